"""What a model call will take, before it is known: rather too much than too little."""

import json
from collections.abc import Mapping
from typing import Any

from ai_assistant import conf
from ai_assistant.types import ModelRequest

CHARS_PER_TOKEN = 3  # English has 4; code, JSON and other languages fewer
OUTPUT_OPTIONS = ("max_completion_tokens", "max_tokens")


def tokens_of(chars: int) -> int:
    """Return how many tokens a text of so many characters has at most, about."""
    return -(-chars // CHARS_PER_TOKEN)


def input_tokens(request: ModelRequest) -> int:
    """Return how many tokens a request has, about."""
    told = json.dumps([request.messages, request.tools], ensure_ascii=False)
    return tokens_of(len(told))


def output_tokens(options: Mapping[str, Any]) -> int:
    """Return how many tokens a reply may have: the limit it is sent with, if any."""
    for name in OUTPUT_OPTIONS:
        most = options.get(name)
        if isinstance(most, int) and most > 0:
            return most
    return int(conf.get("RESERVE_OUTPUT_TOKENS"))
