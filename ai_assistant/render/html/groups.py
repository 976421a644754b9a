"""Calls of one tool in a row are one entry: a group that holds their cards."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from uuid import UUID

from django.db.models import QuerySet

from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.render.html.bodies import load_results, template_name
from ai_assistant.render.html.closed import with_closed
from ai_assistant.render.html.entries import Entry, Kin, call_entry, kin_of

UNDRAWN = ("result", "result_text", "mark")  # of a call: large, and not on its card
# What a group says of its calls: the first of these that one of them has.
NEWS = (
    *(CallStatus.EXECUTING, CallStatus.WAITING, CallStatus.PENDING),
    *(CallStatus.UNKNOWN, CallStatus.FAILED, CallStatus.DENIED, CallStatus.CANCELLED),
)


def grouped(parts: Iterable[Entry]) -> list[Entry]:
    """Return the parts of a run, with calls of one tool in a row as one group."""
    found: list[Entry] = []
    for name, alike in groupby(parts, key=_tool_name):
        same = list(alike)
        if name and len(same) > 1:
            found.append(_group([part["call"] for part in same]))
        else:
            found += same
    return found


def light_calls() -> QuerySet[ToolCall]:
    """Return the calls as their cards need them."""
    return with_closed(ToolCall.objects.defer(*UNDRAWN))


def cards(run: Run, wanted: set[UUID]) -> dict[UUID, Entry]:
    """Return for each of the `wanted` calls the part of the run that shows it."""
    if not wanted:
        return {}
    parents = dict(run.calls.values_list("pk", "parent_id"))
    tops = {call_id: _top(call_id, parents) for call_id in wanted}
    rows = [ids for ids in _rows_of_calls(run) if {*tops.values()} & {*ids}]
    calls = light_calls().in_bulk([call_id for ids in rows for call_id in ids])
    kin = _kin(run) if any(parents.values()) else {}
    load_results([*calls.values(), *(call for below in kin.values() for call in below)])
    found = {}
    for ids in rows:
        entries = [call_entry(calls[call_id], kin) for call_id in ids]
        (part,) = grouped([{"kind": "tool", "call": entry} for entry in entries])
        found.update(dict.fromkeys(ids, part))
    return {call_id: found[top] for call_id, top in tops.items() if top in found}


def _top(call_id: UUID, parents: Mapping[UUID, UUID | None]) -> UUID:
    """Return the call that the model itself has asked for."""
    while parent := parents.get(call_id):
        call_id = parent
    return call_id


def _kin(run: Run) -> Kin:
    return kin_of(light_calls().filter(run=run, parent__isnull=False))


def _rows_of_calls(run: Run) -> list[list[UUID]]:
    """Return the ids of the calls, those in one list that stand in one row."""
    names = dict(run.calls.filter(parent=None).values_list("pk", "name"))
    said = Message.objects.filter(run=run).order_by("position")
    light: list[Entry] = []
    for role, parts in said.values_list("role", "parts"):
        for part in parts:
            call_id = UUID(part["call_id"]) if part["type"] == "call" else None
            if call_id in names and role == Message.Role.ASSISTANT:
                call = {"id": call_id, "name": names[call_id]}
                light.append({"kind": "tool", "call": call})
            else:
                light.append({"kind": part["type"]})
    rows: list[list[UUID]] = []
    for name, alike in groupby(light, key=_tool_name):
        if name is not None:
            ids = [part["call"]["id"] for part in alike]
            rows += [ids] if name else [[call_id] for call_id in ids]
    return rows


def _tool_name(part: Entry) -> str | None:
    """Return the name of a call's tool; empty if its card is not for a group."""
    if part["kind"] != "tool":
        return None
    name = str(part["call"]["name"])
    return "" if template_name(name) else name


def _group(calls: list[Entry]) -> Entry:
    statuses = {call["status"] for call in calls}
    status = next((one for one in NEWS if one in statuses), CallStatus.COMPLETE)
    shown = next(call for call in calls if call["status"] == status)
    tool = registry.tool(calls[-1]["name"])
    return {
        "kind": "group",
        "id": calls[0]["id"],
        "label": str(tool.label_plural if tool else "") or calls[-1]["label"],
        "calls": calls,
        "call": shown,  # whose status is told
        "is_open": any(call["status"] in NEWS[:3] for call in calls),
    }
