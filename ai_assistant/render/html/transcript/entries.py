"""From rows to what the templates of a conversation are given."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any
from uuid import UUID

from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from ai_assistant.configuration.profiles import profile_label
from ai_assistant.configuration.setup import agent_named
from ai_assistant.engine.intake.retries import is_asked_again
from ai_assistant.engine.storage.delegated import ASK_AGENT
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import UNFINISHED, Run, RunState
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.providers.errors import fallback_text
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.body import done_of, draw_body, plan_of
from ai_assistant.render.html.cards.interrupts import (
    answers_of,
    card_of,
    decision_of,
    is_of_page,
)
from ai_assistant.render.html.cards.result import table_entry
from ai_assistant.render.html.cards.without_card import has_card, plan_part
from ai_assistant.render.html.fragments import with_buttons
from ai_assistant.render.markdown import part_end, render
from ai_assistant.safety.budgets.texts import opens_again_text
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.tools.result import SHOWN_CHARS, cut_for_card, indented_json

Entry = dict[str, Any]
Kin = Mapping[UUID, list[ToolCall]]  # calls below a call, by its id
SEARCH = "search_objects"  # its rows are those of a list of the admin
CUT = ("arguments", "result")  # the beginning alone is on the card
OF_OTHERS = ("arguments", "result", "error", "detail", "summary")  # may hide characters
AGAIN = (RunState.FAILED, RunState.LIMITED, RunState.CANCELLED, RunState.NEEDS_REVIEW)


def user_entry(message: Message) -> Entry:
    """Return what `message_user.html` draws."""
    of_code = message.origin == Message.Origin.CODE
    return {
        "kind": "user",
        "id": str(message.pk),
        "key": message.key,
        "text": message.typed,
        "command": command_entry(message),
        "again": message.origin == Message.Origin.APP,
        "of_code": of_code,
        "by": _("Code of this site") if of_code else "",
        "time": message.created_at,
    }


def command_entry(message: Message) -> Entry:
    """Return what `command_chip.html` draws; nothing of a plain message."""
    command = message.command
    if not command:
        return {}
    rest = command["typed"].strip()[len(command["name"]) + 1 :]
    return {
        "name": command["name"],
        "rest": rest,
        "prompt": message.text if command["label"] else "",
        "near": command["near"],
        "arguments": {
            name: value
            for name, value in command["arguments"].items()
            if str(value) not in rest
        },
    }


def run_entry(
    run: Run,
    messages: Iterable[Message],
    calls: Mapping[UUID, ToolCall],
    growing: Iterable[Entry] = (),
) -> Entry:
    """
    Return what `message_assistant.html` draws.

    `messages` are the run's after its question, in order; `growing` the parts of
    a message that is still being written.
    """
    parts: list[Entry] = []
    kin = kin_of(calls.values())
    reasoning = shows_reasoning(run)
    own = [call for call in calls.values() if call.run_id == run.pk]
    plan = plan_part(run, own)
    for message in messages:
        if message.role == Message.Role.USER:
            parts.append({**user_entry(message), "kind": "said"})
        else:
            parts += message_parts(message, calls, kin, plan, reasoning=reasoning)
    is_open = run.state in UNFINISHED
    retries = run.state in AGAIN and is_asked_again(run)
    return {
        "kind": "run",
        "run_id": str(run.pk),
        "state": run.state,
        "parts": [*parts, *growing],
        "error": run.error_text,
        "error_code": run.error_code,
        "opens_at": run.opens_at,
        "opening": _opening(run),
        "wait_s": _wait_s(run),
        "can_retry": retries,
        "can_continue": run.state in AGAIN and not retries,
        "busy": is_open,
        "agent": agent_label(run.agent),
        "fallback": _fallback(run),
    }


def agent_label(name: str) -> str:
    """Return what people call an agent, also one that is gone; empty for none."""
    return str(agent_named(name) or name)


def _fallback(run: Run) -> str:
    """Return why another profile's model has answered; empty if none has."""
    if not run.fallback:
        return ""
    names = {
        "model": profile_label(run.profile),
        "other": profile_label(run.fallback),
    }
    return fallback_text(run.fallback_code, **names)


def _opening(run: Run) -> str:
    """Return when the limit that ended the run is over, or that it is."""
    if run.opens_at is None or run.opens_at > clock.now():
        return opens_again_text(run.opens_at)
    return _("This limit no longer applies.")


def _wait_s(run: Run) -> int:
    """Return in how many seconds it is worth while to try again; 0 is now."""
    if run.opens_at is None:
        return 0
    return max(0, ceil((run.opens_at - clock.now()).total_seconds()))


def shows_reasoning(run: Run) -> bool:
    """Return whether the run's module has what the model thinks drawn."""
    return module_by_id(run.module).has("reasoning")


def text_part(
    message_id: str, blocks: Iterable[str], *, complete: bool, is_cut: bool = False
) -> Entry:
    """Return what `text_part.html` draws; `blocks` are sanitised HTML."""
    return {
        "kind": "text",
        "message_id": message_id,
        # Escaped and allow-listed by render.markdown.
        "blocks": [mark_safe(with_buttons(html)) for html in blocks],  # noqa: S308
        "complete": complete,
        "is_cut": is_cut,
    }


def reasoning_part(
    message_id: str, text: str, *, done: bool, seconds: float = 0
) -> Entry:
    """Return what `reasoning.html` draws."""
    return {
        "kind": "reasoning",
        "message_id": message_id,
        "text": text,
        "seconds": seconds,
        "done": done,
    }


def call_entry(call: ToolCall, kin: Kin | None = None) -> Entry:
    """
    Return what `tool_card.html` draws, with the calls below it.

    A template of the site's gets the result as far as it was loaded before.
    """
    entry = call_facts(call)
    stored = call.__dict__.get("result") or {}  # not asked for, if it was deferred
    values = {
        "args": call.arguments,
        "result": stored.get("data"),
        "message": stored.get("message", ""),
        "partial": call.partial,
    }
    children = (kin or {}).get(call.pk, [])
    entry["cut"] = [name for name in CUT if len(str(entry[name])) > SHOWN_CHARS]
    drawn = with_body(entry, values)  # a template of the site's gets plain texts
    return {
        **drawn,
        **{name: mark_hidden_characters(drawn[name] or "") for name in OF_OTHERS},
        "traceback": mark_hidden_characters(call.traceback),
        "steps": drawn["steps"] or _calls_as_steps(call, children),
        "children": [call_entry(child, kin) for child in children],
    }


def call_facts(call: ToolCall) -> Entry:
    """Return what a card says of a call, as plain texts and values."""
    tool = registry.tool(call.name)
    plan = plan_of(call)
    return {
        "id": str(call.pk),
        "name": call.name,
        "label": _label(call),
        "summary": "" if call.is_open or call.error else call.summary,
        "effect": call.effect,
        "icon": tool.display.icon if tool else "",
        "status": CallStatus.EXECUTING if _is_with_agent(call) else call.status,
        "is_open": call.is_open,
        "is_delegated": call.name == ASK_AGENT,
        "is_of_page": is_of_page(call),
        "reason": call.reason,
        "approved": call.approved,
        "arguments": indented_json(call.arguments) or cut_for_card(call.arguments_text),
        "result": call.preview,
        "table": table_entry(call.shown),
        "is_search": call.name == SEARCH,
        "error": call.summary or call.error if call.error else "",
        "detail": call.error if call.summary else "",  # what the model was told
        "seconds": call.worked_s,
        "started_at": call.work_started_at,
        "finished_at": call.finished_at,
        "progress": call.progress,
        "progress_text": call.progress_text,
        "steps": _steps(call),
        "plan": plan,
        "plan_done": done_of(plan),
        "partial": indented_json(call.partial) if call.is_open and not plan else "",
        "background": call.background,
        "answers": answers_of(call),
        "decision": decision_of(call),
    }


def _label(call: ToolCall) -> str:
    if call.name == ASK_AGENT and call.is_open:
        name = agent_label(str(call.arguments.get("agent", "")))
        return _("Asking %(agent)s") % {"agent": name}
    return call.label or call.name


def _is_with_agent(call: ToolCall) -> bool:
    """Return whether a call waits for another agent, and not for the person."""
    return call.name == ASK_AGENT and call.status == CallStatus.WAITING


def _calls_as_steps(call: ToolCall, children: Iterable[ToolCall]) -> list[Entry]:
    """Return what an agent has done by now that is still at work."""
    if not _is_with_agent(call):
        return []
    return [
        {"text": child.summary or child.label or child.name, "status": child.status}
        for child in children
    ]


def draft_entry(card_id: str, name: str, arguments: dict[str, Any]) -> Entry:
    """Return what `tool_card.html` draws of a call that is still being written."""
    tool = registry.tool(name)
    entry = {
        "id": card_id,
        "name": name,
        "label": str(tool.display.label) if tool else name,
        "icon": tool.display.icon if tool else "",
        "status": CallStatus.PENDING,
        "is_open": True,
        "is_draft": True,
        "arguments": indented_json(arguments),
    }
    return with_body(entry, {"args": arguments})


def with_body(entry: Entry, values: dict[str, Any]) -> Entry:
    """Return `entry` with what the tool's own template makes of it, if it has one."""
    told = ("status", "error", "label", "progress", "progress_text", "steps", "answers")
    shown: dict[str, Any] = {
        "result": None,
        "partial": None,
        **{key: entry.get(key) for key in told},
        **values,
        "call": entry,
    }
    body, fault = draw_body(entry["name"], shown)
    return {**entry, "body": body, "fault": fault}


def kin_of(calls: Iterable[ToolCall]) -> Kin:
    """
    Return the calls that other calls have made, by those, in order.

    And those of the agents that they have asked; of these the conversations are loaded.
    """
    found: dict[UUID, list[ToolCall]] = {}
    for call in sorted(calls, key=lambda one: one.position):
        above = call.parent_id or _asked_by(call)
        if above is not None:
            found.setdefault(above, []).append(call)
    return found


def _asked_by(call: ToolCall) -> UUID | None:
    """Return the call that has asked the agent whose call it is, as far as is loaded."""
    run = call._state.fields_cache.get("run")
    return run.conversation.parent_call_id if run and run.root_id else None


def pinned_entry(interrupt: Interrupt) -> Entry:
    """Return what the template of the interrupt's kind draws."""
    call, card = interrupt.call, card_of(interrupt)
    return {
        **card.entry(interrupt),
        "template": card.template,
        "kind": interrupt.kind,
        "id": str(interrupt.pk),
        "nonce": interrupt.nonce,
        "call": call_entry(call),
        "label": call.label or call.name,
        "agent": agent_label(interrupt.run.agent) if interrupt.run.root_id else "",
    }


def message_parts(
    message: Message,
    calls: Mapping[UUID, ToolCall],
    kin: Kin | None = None,
    plan: Entry | None = None,
    *,
    reasoning: bool = True,
) -> list[Entry]:
    """
    Return the parts of a stored message of the assistant, in order.

    `plan` is that of its run, which stands in the place of one of its calls.
    """
    parts = []
    for part in message.parts:
        if part["type"] == "text":
            parts.append(_text(message, part["text"]))
        elif part["type"] == "reasoning":
            if reasoning:
                parts.append(_thought(message, part))
        elif call := calls.get(UUID(part["call_id"])):
            if has_card(call.name):
                parts.append({"kind": "tool", "call": call_entry(call, kin)})
            elif plan is not None and plan["call_id"] == call.pk:
                parts.append(plan)
    return parts


def _text(message: Message, text: str) -> Entry:
    """Return the first part of a text; the rest is drawn by itself."""
    end = part_end(text)
    is_cut = bool(text[end:].strip())
    return text_part(str(message.pk), render(text[:end]), complete=True, is_cut=is_cut)


def _thought(message: Message, part: Entry) -> Entry:
    return reasoning_part(
        str(message.pk), part["text"], done=True, seconds=part.get("seconds", 0)
    )


def _steps(call: ToolCall) -> list[Entry]:
    """Return the steps that the call has reported; the last is as far as the call."""
    is_begun = call.status != CallStatus.PENDING
    last = call.status if is_begun else CallStatus.EXECUTING
    states = [CallStatus.COMPLETE] * (len(call.steps) - 1) + [last]
    return [
        {"text": text, "status": str(status)}
        for text, status in zip(call.steps, states, strict=False)
    ]
