"""How full the context of the model is, and of what: estimated from what is stored."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max

from ai_assistant import conf
from ai_assistant.engine.accounting.prompts import CHARS_PER_TOKEN, stored_prompt
from ai_assistant.engine.queries import conversations, get_or_404, last_run
from ai_assistant.engine.storage.branches import seen_by
from ai_assistant.engine.storage.fitting import size_of
from ai_assistant.engine.storage.history import read_history
from ai_assistant.engine.storage.summaries import note_of
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.providers.price_list import window_tokens
from ai_assistant.types import UserKey

NEARLY_FULL = 60  # percent, from which on an answer says so by itself


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextMeter:
    """About how many tokens the next message brings, by what they are of."""

    system: int = 0
    tools: int = 0
    history: int = 0
    summary: int = 0
    messages: int = 0  # that the history has
    read: int = 0  # tokens that the model has read in its last step, as it counts
    window: int | None = None  # of the model; None if that is not known

    @property
    def total(self) -> int:
        return self.system + self.tools + self.history + self.summary

    @property
    def percent(self) -> int | None:
        """How full the window is."""
        if not self.window:
            return None
        return min(100, round(100 * self.total / self.window))

    @property
    def shares(self) -> dict[str, int]:
        """How many percent of all each part is, by its name."""
        parts = ("system", "tools", "history", "summary")
        whole = self.total or 1
        return {name: round(100 * getattr(self, name) / whole) for name in parts}


def context_meter(user_id: UserKey, conversation_id: UUID) -> ContextMeter:
    """Return how full the context of a conversation is. Raise Refused not_found."""
    run = last_run(get_or_404(conversations(user_id), conversation_id))
    if run is None:
        return ContextMeter()
    step = run.steps.select_related("run").order_by("-index").first()
    prompt = stored_prompt(step) if step is not None else None
    history = read_history(run, seen_by(run)[0])
    note = len(note_of(history.summary)) if history.summary is not None else 0
    return ContextMeter(
        system=sum(part.tokens for part in prompt.parts) if prompt else 0,
        tools=prompt.tools_tokens if prompt else 0,
        history=max(size_of(history.entries) - note, 0) // CHARS_PER_TOKEN,
        summary=note // CHARS_PER_TOKEN,
        messages=sum(one["role"] != "tool" for one in history.entries),
        read=_read(run, step.index) if step is not None else 0,
        window=_window(run),
    )


def nearly_full(runs: Iterable[Run]) -> dict[UUID, int]:
    """Return how many percent of its window the model of each run has read, if many."""
    windows = {run.pk: window for run in runs if (window := _window(run))}
    if not windows:
        return {}
    rows = UsageLedger.objects.filter(run_id__in=windows)
    read = dict(rows.values_list("run_id").annotate(Max("input_tokens")))
    percent = {
        run_id: min(100, round(100 * tokens / windows[run_id]))
        for run_id, tokens in read.items()
    }
    return {run_id: part for run_id, part in percent.items() if part >= NEARLY_FULL}


def room_for_history(profile: Mapping[str, Any]) -> int:
    """Return how many characters of the history the model of a profile has room for."""
    tokens = window_tokens(profile)
    # The other half is for the prompt, the tools and the answer.
    return tokens * CHARS_PER_TOKEN // 2 if tokens else sys.maxsize


def _read(run: Run, index: int) -> int:
    """Return what the model has read for a step."""
    rows = UsageLedger.objects.filter(run=run, step_index=index)
    read = rows.order_by("-pk").values_list("input_tokens", flat=True)
    return read.first() or 0


def _window(run: Run) -> int | None:
    try:
        return window_tokens(conf.profile(run.profile))
    except ImproperlyConfiguredAssistant:
        return None  # the profile has gone
