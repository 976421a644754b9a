"""The channel layer: there, importable, and able to reach other processes."""

import os
from collections.abc import Iterator

from channels.layers import InMemoryChannelLayer
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.utils.module_loading import import_string

from ai_assistant import conf

IN_MEMORY = "channels.layers.InMemoryChannelLayer"
REDIS = "channels_redis.core.RedisChannelLayer"


def check_layer() -> list[CheckMessage]:
    """Return what keeps news from reaching the open panels at once."""
    layers = getattr(settings, "CHANNEL_LAYERS", None) or {}
    backend = layers.get("default", {}).get("BACKEND", "")
    if not backend:
        return [
            Error(
                "CHANNEL_LAYERS has no layer 'default'.",
                hint=f"Set it to {{'default': {{'BACKEND': {IN_MEMORY!r}}}}}.",
                id="ai_assistant.E040",
            )
        ]
    try:
        layer = import_string(backend)
    except ImportError as error:
        return [
            Error(
                f"CHANNEL_LAYERS['default'] names {backend!r}, which cannot be "
                f"imported: {error}",
                hint="Correct the path, or: pip install 'ai-assistant[redis]'.",
                id="ai_assistant.E041",
            )
        ]
    return [*_reach(layer)]


def _reach(layer: object) -> Iterator[CheckMessage]:
    if not (isinstance(layer, type) and issubclass(layer, InMemoryChannelLayer)):
        return
    if reason := _several_processes():
        yield Warning(
            f"The channel layer is in memory, but {reason}: what one process does "
            "reaches the panels of another only when they poll.",
            hint=f"Use a layer between processes, for example {REDIS!r}.",
            id="ai_assistant.W042",
        )


def _several_processes() -> str:
    if conf.get("EXECUTOR") == "worker":
        return "AI_ASSISTANT['EXECUTOR'] is 'worker'"
    count = os.environ.get("WEB_CONCURRENCY", "")
    if count.isdecimal() and int(count) > 1:
        return f"WEB_CONCURRENCY is {count}"
    return ""
