"""What apps and rows suggest to ask next on a page."""

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any, TypeVar

from django.core.cache import cache
from django.utils.translation import get_language

from ai_assistant import conf
from ai_assistant.configuration.placement import applies
from ai_assistant.configuration.rows import placement_of, rows_of
from ai_assistant.models import configuration as models
from ai_assistant.registry import registry
from ai_assistant.safety.bulkhead import (
    Bulkhead,
    BulkheadFull,
    CodeTimedOut,
    thread_of_site_code,
)
from ai_assistant.safety.limits import tenant
from ai_assistant.types import (
    RunContext,
    Suggestion,
    SuggestionProvider,
    SuggestionWriter,
)

logger = logging.getLogger("ai_assistant")

T = TypeVar("T", SuggestionProvider, SuggestionWriter)

MOST = 8  # of one provider
ALL_S = 1.5  # in which all providers of a page have to answer
_pool = ThreadPoolExecutor(max_workers=64, thread_name_prefix="aia-suggestions")
_bulkhead = Bulkhead()


def suggested(context: RunContext) -> list[Suggestion]:
    """
    Return the suggestions of rows, then those of code, that apply to a page and user.

    A provider that fails or takes too long suggests nothing. Asks the database.
    """
    found = list(_of_rows(rows_of(models.Suggestion), context))
    until = time.monotonic() + ALL_S
    for provider in _registered(SuggestionProvider, context):
        found += _of_provider(provider, context, until)
    return found


def writers_for(context: RunContext) -> list[SuggestionWriter]:
    """Return whose models are asked for suggestions on a page; none without a profile."""
    profiles = conf.profiles()
    writers = _registered(SuggestionWriter, context)
    return [writer for writer in writers if writer.profile in profiles]


def _registered(kind: type[T], context: RunContext) -> Iterator[T]:
    """Yield what code has registered for a page and user; a row takes its place."""
    rows = {row.name for row in rows_of(models.Suggestion)}
    for name, part in registry.parts("suggestion").items():
        is_wanted = isinstance(part, kind) and name not in rows
        if is_wanted and applies(part.placement, context, name):
            yield part


def _of_rows(rows: Any, context: RunContext) -> Iterator[Suggestion]:
    for row in rows:
        if row.is_active and applies(placement_of(row), context, row.name):
            yield Suggestion(label=row.label, text=row.text, path=row.path)


def _of_provider(
    provider: SuggestionProvider, context: RunContext, until: float
) -> list[Suggestion]:
    key = cache_key(provider.name, context)
    known: list[Suggestion] | None = cache.get(key) if provider.cache_s else None
    if known is not None:
        return known
    left = min(provider.timeout_s, until - time.monotonic())
    try:
        made = _bulkhead.ask(
            _pool, provider.name, lambda: _made(provider, context), timeout_s=left
        )
    except (CodeTimedOut, BulkheadFull):
        logger.warning("suggestions %r took too long", provider.name)
        return []
    except Exception:
        logger.exception("suggestions %r failed", provider.name)
        return []
    if provider.cache_s:
        cache.set(key, made, provider.cache_s)
    return made


def _made(provider: SuggestionProvider, context: RunContext) -> list[Suggestion]:
    with thread_of_site_code():
        listed = list(provider.function(context) or ())[:MOST]
        return [_suggestion(one) for one in listed]


def _suggestion(value: Any) -> Suggestion:
    if isinstance(value, Suggestion):
        return value
    if isinstance(value, dict | list | tuple | set):
        raise TypeError(
            f"{value!r} is no suggestion. Return texts, or ai_assistant.Suggestion."
        )
    return Suggestion(label=str(value))


def cache_key(name: str, context: RunContext) -> str:
    """Return the key of what is suggested to one user on one page, in a language."""
    parts = (tenant(), name, context.user.pk, context.page.path, get_language())
    text = "\0".join(map(str, parts))
    return f"aia-suggested-{blake2b(text.encode(), digest_size=16).hexdigest()}"
