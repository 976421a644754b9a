"""Groups of calls and of versions of an answer, as one entry each."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import QuerySet
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from ai_assistant.configuration.profiles import labelled_profiles
from ai_assistant.context.page import page_info
from ai_assistant.context.page_items import place_title
from ai_assistant.engine.storage.branches import Tree, has_changed_rows, tree_of
from ai_assistant.engine.storage.delegated import ASK_AGENT
from ai_assistant.engine.storage.told import question_of
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.body import load_results, template_name
from ai_assistant.render.html.cards.interrupts import with_interrupts
from ai_assistant.render.html.cards.without_card import (
    has_card,
    is_drawn_plan,
    no_plan,
    stored_plan,
)
from ai_assistant.render.html.transcript.entries import (
    Entry,
    call_entry,
    kin_of,
    shows_reasoning,
)
from ai_assistant.render.html.transcript.footer import Span, covered_s
from ai_assistant.tools.plan import is_plan
from ai_assistant.types import WRITING

OWN = "ai_assistant"  # the namespace of the assistant's own pages
TITLE_CHARS = 80


def asked_on(run: Run) -> Entry | None:
    """Return what `asked_on.html` draws; None if there is no page to go back to."""
    url = run.page_path
    if not url_has_allowed_host_and_scheme(url, None) or _is_own(url):
        return None
    page = origin_page(url)
    title = place_title(url, run.page_title) if run.page_title else page
    return {"url": url, "page": page, "title": title[:TITLE_CHARS]}


def page_instead(run: Run, path: str) -> str:
    """Return `path` if `run` could be asked about it instead of its own page."""
    is_other = origin_page(path) not in ("", origin_page(run.page_path))
    return path if is_other and not _is_own(path) else ""


def origin_page(url: str) -> str:
    """Return the path without the query string: a filtered list is the same page."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _is_own(url: str) -> bool:
    """Return whether the question was asked on the assistant's own page."""
    return page_info(url).view_name.partition(":")[0] == OWN


def versions_entry(run: Run, tree: Tree) -> Entry | None:
    """Return what `branch_picker.html` draws; None if there is one version only."""
    versions = tree.versions(run.pk)
    if versions.count < 2:
        return None
    return {
        # The same for each of them: what has the focus keeps it.
        "id": f"b-{run.after_id or run.conversation_id}",
        "number": versions.index + 1,
        "count": versions.count,
        "previous": str(versions.previous or ""),
        "next": str(versions.next or ""),
    }


def versions_sentence(entries: Iterable[Entry]) -> str:
    """Return what is said when another branch is shown: the last choice there is."""
    questions = (one for entry in entries for one in (entry, *_seams(entry)))
    chosen = [found for one in questions if (found := one.get("versions"))]
    if not chosen:
        return ""
    return _("Version %(number)d of %(count)d is shown.") % {
        "number": chosen[-1]["number"],
        "count": chosen[-1]["count"],
    }


def fork_entry(run: Run, page: str = "") -> Entry:
    """
    Return what `message_edit.html` and `regenerate_menu.html` draw on `page`, a path.

    `changed` says that what is left has changed data, which stay as they are. Asks
    the database.
    """
    asked = question_of(run.pk)
    tree = tree_of(run.conversation)
    return {
        "run_id": str(run.pk),
        "message_id": str(asked.pk) if asked else "",
        "text": asked.typed if asked else "",
        "profiles": labelled_profiles(without=run.profile),
        "page": page_instead(run, page),
        "changed": has_changed_rows(tree.below(run.pk)),
    }


def _seams(entry: Entry) -> list[Entry]:
    """Return what is drawn of the questions that nobody typed, within an answer."""
    return [later["seam"] for later in entry.get("later", ()) if later["seam"]]


UNDRAWN = ("result", "result_text")  # of a call: large, and not on its card
READ = "read"
READS = "\0read"  # no tool has such a name
# What a group says of its calls: the first of these that one of them has.
NEWS = (
    *(CallStatus.EXECUTING, CallStatus.WAITING, CallStatus.PENDING),
    *(CallStatus.UNKNOWN, CallStatus.FAILED, CallStatus.DENIED, CallStatus.CANCELLED),
)


def grouped(parts: Iterable[Entry]) -> list[Entry]:
    """Return the parts of a run, with calls that stand in a row as one group."""
    found: list[Entry] = []
    for name, alike in groupby(parts, key=_row_name):
        same = list(alike)
        if name and len(same) > 1:
            found.append(_group([part["call"] for part in same]))
        else:
            found += same
    return found


def light_calls() -> QuerySet[ToolCall]:
    """Return the calls as their cards need them."""
    return with_interrupts(ToolCall.objects.defer(*UNDRAWN))


def cards(run: Run, wanted: set[UUID]) -> dict[UUID, Entry]:
    """Return for each of the `wanted` calls the part of the run that shows it."""
    if not wanted:
        return {}
    named = list(run.calls.values_list("pk", "name", "parent_id"))
    parents = {pk: parent for pk, _name, parent in named}
    tops = {call_id: _top(call_id, parents) for call_id in wanted}
    rows = [ids for ids in _rows_of_calls(run) if {*tops.values()} & {*ids}]
    calls = light_calls().in_bulk([call_id for ids in rows for call_id in ids])
    nested = light_calls().filter(run=run, parent__isnull=False)
    kin = kin_of(
        [*(nested if any(parents.values()) else ()), *calls_of_agents(calls.values())]
    )
    load_results([*calls.values(), *(call for below in kin.values() for call in below)])
    found = {}
    for ids in rows:
        entries = [call_entry(calls[call_id], kin) for call_id in ids]
        (part,) = grouped([{"kind": "tool", "call": entry} for entry in entries])
        found.update(dict.fromkeys(ids, part))
    plans = {pk for pk, name, _parent in named if pk in wanted and is_plan(name)}
    if plans:
        found.update(dict.fromkeys(plans, stored_plan(run) or no_plan(run)))
    return {call_id: found[top] for call_id, top in tops.items() if top in found}


def calls_of_agents(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """Return the calls of the agents that some of `calls` have asked, and below them."""
    asked = [call.pk for call in calls if call.name == ASK_AGENT]
    if not asked:
        return []
    below = light_calls().filter(run__conversation__parent_call__in=asked)
    found = list(below.select_related("run__conversation").order_by("step__index"))
    return [*found, *calls_of_agents(found)]


def _top(call_id: UUID, parents: Mapping[UUID, UUID | None]) -> UUID:
    """Return the call that the model itself has asked for."""
    while parent := parents.get(call_id):
        call_id = parent
    return call_id


def _rows_of_calls(run: Run) -> list[list[UUID]]:
    """Return the ids of the calls, those in one list that stand in one row."""
    rows: list[list[UUID]] = []
    for name, alike in groupby(_light_parts(run), key=_row_name):
        if name is not None:
            ids = [part["call"]["id"] for part in alike]
            rows += [ids] if name else [[call_id] for call_id in ids]
    return rows


def _light_parts(run: Run) -> Iterator[Entry]:
    """Yield the stored parts of a run as they are drawn, with little of each."""
    tops = run.calls.filter(parent=None).values_list("pk", "name", "effect", "status")
    names = {pk: others for pk, *others in tops}
    reasoning = shows_reasoning(run)
    has_plan = False
    said = Message.objects.filter(run=run).order_by("position")
    for role, parts in said.values_list("role", "parts"):
        for part in parts:
            call_id = UUID(part["call_id"]) if part["type"] == "call" else None
            if call_id not in names or role != Message.Role.ASSISTANT:
                if reasoning or part["type"] != "reasoning":
                    yield {"kind": part["type"]}
                continue
            called, effect, status = names[call_id]
            if has_card(called):
                call = {"id": call_id, "name": called, "effect": effect}
                yield {"kind": "tool", "call": call}
            elif not has_plan and is_drawn_plan(called, status, None):
                has_plan = True
                yield {"kind": "plan"}


def _row_name(part: Entry) -> str | None:
    """Return what calls of one row share; empty if a card is not for a group."""
    if part["kind"] != "tool":
        return None
    call = part["call"]
    if template_name(call["name"]) or call["name"] == ASK_AGENT:
        return ""
    return READS if call["effect"] == READ else str(call["name"])


def _group(calls: list[Entry]) -> Entry:
    statuses = {call["status"] for call in calls}
    status = next((one for one in NEWS if one in statuses), CallStatus.COMPLETE)
    done = [call for call in calls if call["status"] == CallStatus.COMPLETE]
    folded = done if len(done) > 1 else []
    return {
        "kind": "group",
        "id": calls[0]["id"],
        "label": _label(folded),
        "count": len(folded) if len({call["name"] for call in folded}) == 1 else 0,
        "seconds": covered_s(_spans(folded)),
        "calls": calls,
        "folded": folded,
        "apart": [call for call in calls if call not in folded],
        "status": status,  # the one that matters most
    }


def _label(calls: list[Entry]) -> str:
    """Return what a line says of many calls that are done."""
    if not calls:
        return ""
    if len({call["name"] for call in calls}) > 1:
        return _("Looked at %(count)d things") % {"count": len(calls)}
    tool = registry.tool(calls[-1]["name"])
    return str(tool.display.label_plural if tool else "") or str(calls[-1]["label"])


def _spans(calls: Iterable[Entry]) -> list[Span]:
    """Return when each of the calls that have ended was at work."""
    ended = (call for call in calls if call["finished_at"] is not None)
    return [(call["started_at"], call["finished_at"]) for call in ended]


def writes(part: Entry) -> bool:
    """Return whether a call of this part of a run may have changed something."""
    calls = part["calls"] if part["kind"] == "group" else [part.get("call", {})]
    return any(call.get("effect") in WRITING for call in calls)
