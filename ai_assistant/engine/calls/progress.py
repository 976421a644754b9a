"""The reports of a call about its work: progress, steps, cards, results so far."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext as _

from ai_assistant.events import (
    CallArguments,
    CallEnd,
    CallResult,
    CallStart,
    Custom,
    Event,
)
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, LostLease
from ai_assistant.models import clock
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.registry import registry
from ai_assistant.text.redaction.redact import redact, redact_json
from ai_assistant.text.unicode import join_surrogates, whole_json
from ai_assistant.tools.result import from_value
from ai_assistant.types import JSON, CallActions, ToolResult

REPORT_S = 0.2  # at least so long between two reports that are stored
REPORT_CHARS = 200  # of a step, and of the text beside the bar
MAX_STEPS = 50
MAX_SHOWN = 50  # cards of one call
ESTIMATE_AFTER_S = 3.0  # at work; what it did before then says little
MINUTE_S = 60
PARTIAL_CHARS = 32_000  # of a result so far; a larger one is not shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A card that a call shows below its own."""

    id: UUID
    name: str
    arguments: dict[str, Any]


class Report:
    """
    The newest of all that one attempt at a call has reported.

    Reported from the thread of the tool, stored from another: only the newest counts,
    and storing it twice is harmless.
    """

    def __init__(self, *, above: "Report | None" = None) -> None:
        self._above = above  # that of the call of which this one is a part
        self._is_over = False
        self.news: Callable[[], None] = lambda: None
        self._progress: tuple[float, str] | None = None
        self._steps: list[str] = []
        self._partial: JSON = None
        self._shown: list[Shown] = []
        self._since = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the engine no longer waits for the call, or for one above it."""
        return self._is_over or (self._above is not None and self._above.is_over)

    @is_over.setter
    def is_over(self, is_over: bool) -> None:
        self._is_over = is_over

    # --- reported by the tool ---

    def reporting(self, actions: CallActions) -> CallActions:
        """Return what a tool may do; its reports go to this one."""
        return replace(actions, progress=self.progress, step=self.step, show=self.show)

    def progress(self, fraction: float, text: str) -> None:
        """Take how far the call is."""
        left = time_left(time.monotonic() - self._since, fraction)
        said = " · ".join(filter(None, (_short(text), left)))
        self._progress = fraction, said[:REPORT_CHARS]
        self._told()

    def step(self, text: str) -> None:
        """Take the step that the call has reached. After the last one it stays."""
        if len(self._steps) < MAX_STEPS:
            self._steps = [*self._steps, _short(text)]
        self._told()

    def partial(self, value: JSON) -> None:
        """Take the result so far: plain JSON. A very large one is passed over."""
        if len(json.dumps(value)) <= PARTIAL_CHARS:
            self._partial = redact_json(whole_json(value))
        self._told()

    def show(self, name: str, arguments: dict[str, Any]) -> None:
        """Take a card to be drawn. Raise if there is no such card."""
        data = redact_json(check_shown(name, arguments))
        if len(self._shown) < MAX_SHOWN:
            self._shown = [
                *self._shown,
                Shown(id=uuid.uuid4(), name=name, arguments=data),
            ]
        self._told()

    def _told(self) -> None:
        if self.is_over:
            raise LostLease("The call was given up or stopped; its tool ends here.")
        self.news()

    # --- stored by the engine ---

    def branch(self) -> "Report":
        """Return a report that continues from here, and can be started again."""
        other = Report(above=self._above)
        other._progress, other._steps = self._progress, self._steps
        other._partial, other._shown = self._partial, self._shown
        other._since = self._since
        return other

    def store(self, call: ToolCall) -> list[Event]:
        """Store it all, if the call has no result yet. Requires the lease."""
        fields: dict[str, Any] = {"steps": self._steps, "partial": self._partial}
        if self._progress is not None:
            fields["progress"], fields["progress_text"] = self._progress
        open_call = ToolCall.objects.filter(pk=call.pk, status__in=OPEN_CALL)
        if not self.has_news or not open_call.update(**fields):
            return []
        fact = Custom(name="aia.progress", value={"call_id": str(call.pk)})
        return [fact, *self._store_shown(call)]

    @property
    def has_news(self) -> bool:
        """Whether the tool has reported anything."""
        told = (self._progress, self._partial)
        return bool(self._steps or self._shown) or told != (None, None)

    def _store_shown(self, call: ToolCall) -> list[Event]:
        wanted = {one.id: one for one in self._shown}
        rows = ToolCall.objects.filter(pk__in=wanted)
        for pk in rows.values_list("pk", flat=True) if wanted else ():
            del wanted[pk]
        facts: list[Event] = []
        for one in wanted.values():
            facts += shown_call(call, one.id, one.name, one.arguments)
        return facts


def time_left(spent_s: float, fraction: float) -> str:
    """Return "about 20 s left"; empty while that cannot be said."""
    if spent_s < ESTIMATE_AFTER_S or not 0 < fraction < 1:
        return ""
    left_s = spent_s * (1 - fraction) / fraction
    if left_s >= MINUTE_S:
        return _("about %(minutes)d min left") % {"minutes": round(left_s / MINUTE_S)}
    steps = 5 if left_s > 2 * 5 else 1  # a figure that does not jump
    seconds = max(1, round(left_s / steps) * steps)
    return _("about %(seconds)d s left") % {"seconds": seconds}


def _short(text: object) -> str:
    return redact(join_surrogates(str(text)))[:REPORT_CHARS]


def heard(report: Report) -> asyncio.Event:
    """Return the event that is set on this event loop at each report."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # a thread that outlives the loop
            loop.call_soon_threadsafe(news.set)

    report.news = tell
    return news


def drained(name: str, values: Generator[Any, Any, Any], report: Report) -> ToolResult:
    """
    Take all values of a generator tool; return its result.

    Each value is the result so far; the last one, or what is returned, is the
    result.
    """
    result = ToolResult(ok=True)
    while True:
        try:
            result = from_value(name, next(values))
        except StopIteration as end:
            return result if end.value is None else from_value(name, end.value)
        if not take_partial(result, report):
            values.close()
            return result


def in_turn(values: AsyncGenerator[Any, Any]) -> Generator[Any, None, None]:
    """Yield what an async generator yields, where no event loop is running."""
    end = object()

    async def following() -> Any:
        return await anext(values, end)

    with asyncio.Runner() as runner:
        try:
            while (value := runner.run(following())) is not end:
                yield value
        finally:
            runner.run(values.aclose())


def take_partial(result: ToolResult, report: Report) -> bool:
    """Show a result so far; False if it is not valid, and the tool has to end."""
    if result.error_type == "bad_result":
        return False
    report.partial(result.data if result.ok else asdict(result))
    return True


def check_shown(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as plain JSON. Raise if there is no such card."""
    tool = registry.tool(name)
    if tool is None or not tool.display.renders_only:
        raise ImproperlyConfiguredAssistant(
            f"context.show({name!r}) names no card. Register a tool with that name "
            "and renders_only=True."
        )
    plain = from_value(name, arguments)
    if not plain.ok or not isinstance(plain.data, dict):
        raise ImproperlyConfiguredAssistant(
            f"context.show({name!r}) got arguments that are not JSON serializable, or "
            "too large. Give numbers, strings, lists and dicts."
        )
    return {str(key): whole_json(value) for key, value in plain.data.items()}


def shown_call(
    parent: ToolCall, call_id: UUID, name: str, arguments: dict[str, Any]
) -> list[Event]:
    """Store a card as a completed child call of `parent`; return its events."""
    tool = registry.tool(name)
    now = clock.now()
    call = ToolCall(
        id=call_id,
        run_id=parent.run_id,
        step_id=parent.step_id,
        parent=parent,
        position=_next_position(parent),
        name=name,
        label=str(tool.display.label)[:200] if tool else "",
        effect="ui",
        arguments=arguments,
        status=CallStatus.COMPLETE,
        result=asdict(ToolResult(ok=True)),
        started_at=now,
        finished_at=now,
    )
    call.save(force_insert=True)
    key, said = str(call_id), json.dumps(arguments, ensure_ascii=False)
    return [
        CallStart(call_id=key, name=name, message_id=str(parent.step.message_id)),
        CallArguments(call_id=key, delta=said),
        CallEnd(call_id=key),
        CallResult(call_id=key, status=CallStatus.COMPLETE, content=""),
    ]


def _next_position(parent: ToolCall) -> int:
    """Return a place in the step that no other call has."""
    calls = ToolCall.objects.filter(run_id=parent.run_id, step_id=parent.step_id)
    return int(calls.aggregate(last=Max("position"))["last"]) + 1
