"""
Mark the part of a prompt that a provider is to keep, for those that need a mark.

Claude caches what a request marks, tools included, since they come before the prompt.
Others find a beginning again by themselves.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

FAMILIES = frozenset({"anthropic", "bedrock", "bedrock_converse", "vertex_ai"})
CLAUDE = "claude"
MARK: Mapping[str, Any] = {"cache_control": {"type": "ephemeral"}}
OF_SITE = "cache_control_injection_points"  # the option with which a site sets its own


def with_cache_mark(
    litellm: ModuleType, arguments: Mapping[str, Any], stable_chars: int
) -> dict[str, Any]:
    """Return the arguments of a call with a mark behind the first `stable_chars`."""
    first, *others = arguments["messages"]
    text = first.get("content")
    is_prompt = first.get("role") == "system" and isinstance(text, str)
    if not (stable_chars and is_prompt) or OF_SITE in arguments:
        return {**arguments}
    if not _takes_marks(litellm, arguments["model"]):
        return {**arguments}
    blocks = [{"type": "text", "text": text[:stable_chars], **MARK}]
    if rest := text[stable_chars:]:
        blocks.append({"type": "text", "text": rest})
    return {**arguments, "messages": [{**first, "content": blocks}, *others]}


@lru_cache(maxsize=100)
def _takes_marks(litellm: ModuleType, model: str) -> bool:
    try:
        name, family, *_others = litellm.get_llm_provider(model=model)
        if family not in FAMILIES or CLAUDE not in name:
            return False  # of some others litellm would ask their server
        return bool(litellm.utils.supports_prompt_caching(model=model))
    except Exception:  # noqa: BLE001 - the call itself tells what is wrong with it
        return False
