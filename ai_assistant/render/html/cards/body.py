"""The body of a card: the site's own template, the plan, or all of it as it is."""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from django.template.exceptions import TemplateDoesNotExist
from django.template.loader import get_template
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from ai_assistant.engine.accounting.prompts import ShownPrompt, stored_prompt
from ai_assistant.engine.storage.eventlog import StoredEvent, events_after
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run, Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.effective import effective_values
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.text.redaction.redact import redact, redact_json

logger = logging.getLogger("ai_assistant")

FOLDER = "ai_assistant/tools/"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # a model may say any other


def template_name(tool_name: str) -> str:
    """
    Return the template of a tool's card; empty if it has the default one.

    That of a tool that is gone is still used, if its file has the tool's name.
    """
    tool = registry.tool(tool_name)
    if tool is not None and tool.display.template:
        return tool.display.template
    if not NAME.fullmatch(tool_name):
        return ""
    name = f"{FOLDER}{tool_name}.html"
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return ""
    except Exception:  # noqa: BLE001 - an error in it is reported where it is drawn
        return name
    return name


def load_results(calls: Iterable[ToolCall]) -> None:
    """Load the results that templates want; all others stay in the database."""
    wanted = {
        call.pk: call for call in calls if not call.is_open and template_name(call.name)
    }
    if not wanted:
        return
    rows = ToolCall.objects.filter(pk__in=wanted)
    for pk, result in rows.values_list("pk", "result"):
        wanted[pk].result = result


def draw_body(tool_name: str, values: dict[str, Any]) -> tuple[str, str]:
    """
    Return the body of a card as the tool's template draws it, and what is wrong.

    Both are empty if the tool has none. One that fails is logged, and the default
    body is drawn instead.
    """
    name = template_name(tool_name)
    if not name:
        return "", ""
    try:
        html = get_template(name).render(values)
    except Exception as error:
        logger.exception("template %r of tool %r failed", name, tool_name)
        return "", f"{name}: {type(error).__name__}: {error}"[:500]
    # The site's own HTML; its values are escaped by the template engine.
    return mark_safe(html.strip()), ""  # noqa: S308


MOST_STEPS = 50


def plan_of(call: ToolCall) -> list[dict[str, Any]]:
    """
    Return the plan in the call's newest partial result, a list under `plan`.

    Of each step its `text` and `status`, pending if it says none that exists.
    """
    told = call.partial.get("plan") if isinstance(call.partial, dict) else None
    steps = told if isinstance(told, list) else []
    return [
        {"text": str(step["text"]), "status": _status(step)}
        for step in steps[:MOST_STEPS]
        if isinstance(step, dict) and step.get("text")
    ]


def done_of(plan: list[dict[str, Any]]) -> int:
    """Return how many steps of a plan are done."""
    return sum(step["status"] == CallStatus.COMPLETE for step in plan)


def _status(step: dict[str, Any]) -> str:
    status = step.get("status")
    return str(status) if status in CallStatus.values else str(CallStatus.PENDING)


Entry = dict[str, Any]

MOST_EVENTS = 500
EVENT_CHARS = 300
TEXT_CHARS = 20_000  # of one text; the rest is said to be there
RUN = (
    *("state", "error_code", "error_detail", "channel", "profile", "module"),
    *("page_path", "page_title", "wish", "look_only", "attempts", "running_s"),
)
SOURCES = {
    "site": gettext_lazy("the site"),
    "profile": gettext_lazy("the profile"),
    "agent": gettext_lazy("the agent"),
    "module": gettext_lazy("the module"),
    "conversation": gettext_lazy("the conversation"),
}
STEP = ("index", "model", "finish_reason", "created_at")
TOOK = (
    *("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"),
    "cost_usd",
)


def raw_entry(run: Run) -> Entry:
    """Return what `raw.html` draws."""
    calls = ToolCall.objects.filter(run=run).select_related("step")
    usage = list(UsageLedger.objects.filter(run=run).order_by("created_at"))
    said = Message.objects.filter(run=run).order_by("position")
    events = events_after(run.pk, most=MOST_EVENTS + 1)
    return {
        "run": run,
        "facts": [
            (name, mark_hidden_characters(_text(getattr(run, name)))) for name in RUN
        ],
        "settings": [
            (one.name, mark_hidden_characters(_text(one.value)), SOURCES[one.source])
            for one in effective_values(run)
        ],
        "context": shown_text(run.context),
        "tools": sorted(run.tool_versions.items()),
        "steps": list(_steps(run, usage)),
        "usage": usage,
        "calls": [_call(call) for call in calls.order_by("step__index", "position")],
        "messages": [
            {
                "role": message.get_role_display(),
                "created_at": message.created_at,
                "parts": shown_text(message.parts),
            }
            for message in said
        ],
        "events": [_event(event) for event in events[:MOST_EVENTS]],
        "has_more": len(events) > MOST_EVENTS,
    }


def _steps(run: Run, usage: list[UsageLedger]) -> Iterator[Entry]:
    settled = [row for row in usage if row.state == UsageLedger.State.SETTLED]
    took = {row.step_index: row for row in settled}
    steps = Step.objects.filter(run=run).select_related("run")
    for step in steps.order_by("index"):
        row = took.get(step.index)
        yield {
            **{name: getattr(step, name) for name in STEP},
            **{name: getattr(row, name, None) for name in TOOK},
            "prompt": prompt_entry(stored_prompt(step)),
        }


def prompt_entry(prompt: ShownPrompt | None) -> Entry | None:
    """Return what `prompt_parts.html` draws; None if there is no prompt."""
    if prompt is None:
        return None
    parts = [
        {
            "id": part.id,
            "source": part.source,
            "tokens": part.tokens,
            "is_cacheable": part.is_cacheable,
            "text": mark_hidden_characters(part.text),
        }
        for part in prompt.parts
    ]
    tools = {
        "tokens": prompt.tools_tokens,
        "text": shown_text(json.loads(prompt.tools or "[]")),
    }
    return {
        "parts": parts,
        "tools": tools,
        "tokens": prompt.tokens,
        "left_out": prompt.left_out,
    }


def _call(call: ToolCall) -> Entry:
    begin, end = call.work_started_at, call.finished_at
    return {
        "call": call,
        "arguments": shown_text(call.arguments or call.arguments_text),
        "result": shown_text(call.result_text),
        "traceback": mark_hidden_characters(redact(call.traceback)),
        "seconds": (end - begin).total_seconds() if end else None,
    }


def _event(event: StoredEvent) -> Entry:
    told = json.dumps(redact_json(event.payload), ensure_ascii=False)
    cut = told if len(told) <= EVENT_CHARS else f"{told[:EVENT_CHARS]} …"
    return {"seq": event.seq, "type": event.type, "told": mark_hidden_characters(cut)}


def shown_text(value: object, length: int = TEXT_CHARS) -> str:
    """Return a value as a page may show it: once more without secrets, cut."""
    return mark_hidden_characters(_text(value, length))


def _text(value: object, length: int = TEXT_CHARS) -> str:
    if isinstance(value, str):
        with suppress(ValueError):  # the model mostly gets a result as JSON
            value = json.loads(value)
    if isinstance(value, str):
        text = redact(value)
    else:
        shown = redact_json(value)
        text = json.dumps(shown, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= length else f"{text[:length]} …"
