"""Sample data for the templates, with every field a template may read."""

from dataclasses import fields
from datetime import UTC, datetime
from uuid import UUID

from django import forms
from django.contrib.auth.models import Group
from django.utils.safestring import mark_safe

from ai_assistant.changes.undo.values import Outcome, UndoField, UndoPlan, UndoRow
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange, Related
from ai_assistant.engine.service import ContextMeter
from ai_assistant.render.html.cards.approval import edit_entry
from ai_assistant.render.html.diffs.differences import difference_entry
from ai_assistant.render.html.diffs.undo import plan_entry
from ai_assistant.render.html.transcript.stale import StaleBar
from ai_assistant.render.html.transcript.thread import Drawn
from ai_assistant.web.panel.layout import Layout
from ai_assistant.web.panel.panel import Notices, PanelPage, Viewer
from ai_assistant.web.save_guard.conflicts import Conflict

TIME = datetime(2026, 3, 1, 14, 2, tzinfo=UTC)
CONVERSATION = "0b8a9f1e-0000-4000-8000-000000000001"
KINDS = {
    "viewer": Viewer,
    "page": PanelPage,
    "layout": Layout,
    "notices": Notices,
    "thread": Drawn,
}
ROUTES = [
    "send",
    "stop",
    "queue",
    "retry",
    "regenerate",
    "edit_message",
    "branch",
    "undo",
    "summary",
    "meter",
    "grants",
    "answer",
    "edit",
    "rows",
    "whole",
    "table",
    "message",
    "feedback",
    "raw",
    "commands",
    "palette",
    "prompt",
    "conversations",
    "new",
    "frames",
    "context",
    "ws",
    "page",
    "full",
]
BLOCKS = ("<p>One <strong>bold</strong> word.</p>", "<pre><code>a  b\n</code></pre>")


def call(said: str = "x", **changes) -> dict:
    return {
        "id": "c1",
        "name": said,
        "label": said,
        "status": "complete",
        "reason": said,
        "arguments": said,
        "result": said,
        "error": said,
        "suggestion": said,
        "seconds": 0.84,
        "started_at": TIME,
        "progress": 0.5,
        "progress_text": said,
        "background": True,
        "summary": said,
        "detail": said,
        "table": table(said),
        **changes,
    }


def table(said: str = "x") -> dict:
    cell = {"text": said, "label": said, "id": said}
    return {
        "fields": [{"label": said, "cell": cell}],
        "columns": [said],
        "rows": [[cell]],
        "more": 2,
        "order": "-0",
        "total": 3,
        "first": 2,
        "last": 2,
        "before": 0,
        "after": 2,
    }


def text_part(message_id: str = "m1", blocks: tuple[str, ...] = BLOCKS) -> dict:
    safe = [mark_safe(html) for html in blocks]  # noqa: S308 - written above
    return {"kind": "text", "message_id": message_id, "blocks": safe, "complete": True}


def steps(said: str = "x") -> list[dict]:
    return [{"text": said, "status": "complete", "said": said}]


def reasoning(said: str = "x", **changes) -> dict:
    sample = {"kind": "reasoning", "message_id": "m1", "text": said}
    return {**sample, "seconds": 6.2, "done": True, **changes}


def user(said: str = "x", **changes) -> dict:
    return {
        "kind": "user",
        "id": "1",
        "key": said,
        "text": said,
        "time": TIME,
        "run_id": "r1",
        "versions": versions(),
        "asked_on": {"url": said, "page": "/admin/", "title": said},
        **changes,
    }


def run(said: str = "x", **changes) -> dict:
    parts = [
        reasoning(said),
        {"kind": "tool", "call": call(said)},
        text_part(),
        user(said, kind="said", id="2", versions=versions("b-2")),
        {"kind": "plan", "id": "r1", "plan": steps(said), "plan_done": 1},
    ]
    sample = {"kind": "run", "run_id": "r1", "state": "failed", "parts": parts}
    end = {"error": said, "error_code": said, "can_retry": True, "can_continue": True}
    more = {"duration_s": 2.0, "busy": True, "changes": changed(said)}
    more["followups"] = [said]
    more["summaries"] = [summary(said), summary(said, id="s2", failed=said)]
    return {**sample, **end, **ended(said), **more, **changes}


def summary(said: str = "x", **changes) -> dict:
    blocks = [mark_safe(html) for html in BLOCKS]  # noqa: S308 - written above
    return {"id": "s1", "count": 12, "failed": "", "blocks": blocks, **changes}


def later(said: str = "x", **changes) -> dict:
    """Return the sample of a part that goes on with a cut answer."""
    seam = user(said, id="3", versions=versions("b-3"))
    return run(said, **{"run_id": "r4", "parts": [], "seam": seam, **changes})


def listed(said: str = "x", **changes) -> dict:
    """Return what the list of conversations is drawn from, also by a search."""
    item = {"id": "c9", "title": said, "time": TIME, "url": "/assistant/", "busy": ""}
    more = {"heading": said, "unread": True, "pinned": True, "archived": True}
    hit = {"pieces": pieces(said), "hit": pieces(said)}
    return {"items": [{**item, **more, **hit, **changes}], "more": 25}


def pieces(said: str = "x") -> list[dict]:
    return [{"text": said, "is_hit": True}, {"text": said, "is_hit": False}]


def versions(name: str = "b-1") -> dict:
    return {"id": name, "number": 2, "count": 3, "previous": "r0", "next": "r2"}


def fork(said: str = "x") -> dict:
    """Return what the forms of another version are drawn from."""
    profiles = [(said, said)]
    return {"run_id": "r1", "text": said, "profiles": profiles, "changed": True}


def ended(said: str = "x") -> dict:
    """Return what stands under an answer that is complete."""
    return {
        "ended_at": TIME,
        "duration": said,
        "has_text": True,
        "full": 72,
        "feedback": {"value": "down", "reasons": ["wrong"], "text": said},
        "reasons": [{"value": "wrong", "label": said, "ticked": True}],
        "sources": [source(said)],
    }


def source(said: str = "x") -> dict:
    """Return what an answer has linked."""
    named = dict.fromkeys(("url", "text", "model", "app", "tool"), said)
    return {**named, "read_at": TIME}


def approval(said: str = "x", **changes) -> dict:
    sample = {"id": "i1", "nonce": said, "call": call(said)}
    sample["template"] = "ai_assistant/approval.html"
    argument = {"label": said, "text": said, "more": "", "at": ""}
    shown = {"label": said, "arguments": [argument], "destructive": True}
    more = {
        "expires_at": TIME,
        "expires": said,
        "key": said,
        "because": said,
        "editable": True,
        "allows": said,
    }
    return {**sample, **shown, **more, "diff": difference(said), **changes}


def difference(said: str = "x", **changes) -> dict:
    """Return what is drawn of a change of two objects, with what goes along."""
    field = FieldChange(name="a", label=said, before=f"{said} a b c", after=said)
    one = ObjectChange(
        kind="change", model="a.b", object_id=said, text=said, fields=(field,)
    )
    along = Related(model="a.b", label=said, kind="delete", count=2, texts=(said,))
    given = {"objects": (one, one), "related": (along,), "warnings": (said,)}
    shown = Changes(title=said, total=30, rows_argument="ids", undoable=False, **given)
    return {**difference_entry(shown), **changes}


def changed(said: str = "x") -> dict:
    objects = difference(said)["objects"]
    entry = {"run_id": "r1", "label": said, "count": 3, "objects": objects[:1]}
    entry |= {"headline": said, "others": objects[1:], "rest": 3}
    objects[0]["history"] = f"/{said}"
    undo = {"url": "/assistant/undo/?run=r1", "is_undone": True, "is_whole": False}
    undo |= {"redo": "/assistant/undo/?change=c1", "at": TIME}
    return {**entry, "more": 2, "gaps": [said], "saved_as": said, "undo": undo}


def undo_plan(said: str = "x") -> dict:
    """Return the plan of an undo: a field that is restored, and a conflict."""
    both = {"name": "a", "label": said, "now": said, "restored": f"{said} a b"}
    shown = {"key": said, "model": "a.b", "object_id": "1", "text": said}
    rows = [
        UndoRow(
            **shown,
            action="change",
            outcome=outcome,
            reason=said,
            fields=[UndoField(**both, outcome=outcome, reason=said)],
            can_overrule=outcome == Outcome.CONFLICT,
            changed_by=said,
            changed_at=TIME,
        )
        for outcome in (Outcome.RESTORE, Outcome.CONFLICT)
    ]
    plan = UndoPlan(rows=rows, gaps=[{"table": said}])
    address = "/assistant/undo/?run=r1"
    return {
        **plan_entry(plan, {"run": "r1"}, address),
        "more": 2,
        "has_moved": True,
        "is_long": True,
    }


class Edited(forms.Form):
    title = forms.CharField(help_text="How it is called.")
    owner = forms.CharField(widget=forms.HiddenInput)


def question(said: str = "x", **changes) -> dict:
    sample = {"id": "i2", "nonce": said, "call": call(said)}
    sample["template"] = "ai_assistant/question.html"
    option = {"id": said, "label": said, "description": said, "proposed": True}
    asked = {"question": "select", "strict": False, "proposed": said}
    return {**sample, **asked, "text": said, "options": [option], **changes}


def chip(said: str = "x", **changes) -> dict:
    texts = dict.fromkeys(("id", "title", "description", "text"), said)
    return {**texts, "auto": True, "error": "", **changes}


def suggestions(said: str = "x") -> list[dict]:
    return [
        {"label": said, "sent": said, "path": ""},
        {"label": said, "sent": said, "path": "/p"},
    ]


def empty(said: str = "x") -> dict:
    """Return what an empty panel says, and that a model is asked for more."""
    sample = {"headline": said, "suggestions": suggestions(said), "allows": said}
    return {**sample, "asks_always": True, "awaited": range(3)}


def queue(said: str = "x", *, goes_on: bool = False) -> dict:
    told = {"id": "1", "key": said, "text": said, "told": True}
    messages = [told, {**told, "id": "2", "told": False}]
    return {
        "conversation": CONVERSATION,
        "messages": messages,
        "why": said,
        "goes_on": goes_on,
    }


def panel(said: str = "x", **changes) -> dict:
    """Return a panel; `changes` are of it, or of the group that has such a field."""
    groups = {
        "viewer": {"name": said, "can_use": True},
        "page": {
            "path": said,
            "name": said,
            "readonly": False,
            "chips": {"items": [chip(said)], "room": 12_000},
            "empty": empty(said),
        },
        "layout": {"is_open": True, "mode": "dock", "width": 400},
        "notices": {
            "origin": {"label": said, "route": "/admin/"},
            "undo": changed(said),
        },
        "thread": {
            "title": said,
            "run_id": "r1",
            "seq": 1234,
            "state": "idle",
            "entries": [user(said), run(said)],
            "pinned": [approval(said), question(said)],
        },
    }
    drawn = {
        **groups,
        "conversation": CONVERSATION,
        "queue": queue(said),
        "model_label": said,
        "key": "k1",
        "urls": {name: f"/assistant/{name}/" for name in ROUTES},
        "max_chars": 100_000,
    }
    for name, value in changes.items():
        has = [group for group, kind in KINDS.items() if name in field_names(kind)]
        (groups[has[0]] if has else drawn)[name] = value
    return drawn


def field_names(kind: type) -> set[str]:
    return {field.name for field in fields(kind)}


def shared_run(said: str = "x") -> dict:
    """Return an answer as it is drawn for a reader of a shared conversation."""
    hidden = call(said, table=None, is_shared=True, withheld=True)
    parts = [text_part(), {"kind": "tool", "call": hidden}]
    own = {"parts": parts, "changes": changed(said), "withheld": True, "end": said}
    return {"kind": "run", "run_id": "r1", **own}


def proposal(said: str = "x") -> dict:
    """Return what the parts of a card are given by the template around them."""
    diff = difference(said)
    one = diff["objects"][0]
    decision = {"id": "c1", "sentence": said, "reason": said, "diff": diff}
    return {
        "diff": diff,
        "object": one,
        "field": one["fields"][0],
        "decision": decision,
        "ticks": True,
        "edit": edit_entry(Edited({"title": "", "owner": said}), UUID(CONVERSATION)),
        "argument": {"label": said, "text": said, "more": said, "at": "a=b"},
        "more": said,
        "at": "a=b",
        "whole": {"label": said, "title": said, "text": said, "query": "a=b"}
        | {"number": 2, "count": 3, "changed": [1, 3]},
    }


def context(said: str = "x", **changes) -> dict:
    """Return what any of the templates could ask for."""
    return {
        "panel": panel(said, **changes),
        "entry": run(said, later=[later(said)], seam=user(said, id="4")),
        "part": reasoning(said),
        "call": call(said),
        "table": table(said),
        "item": approval(said),
        "queue": queue(said),
        "grants": [{"id": 1, "tool": said, "model": said}],
        "summary": summary(said),
        "meter": ContextMeter(
            system=900, tools=1200, history=3000, summary=100, read=5100, window=8000
        ),
        **proposal(said),
        "chip": chip(said, error=said),
        "number": 1,
        "plan": undo_plan(said),
        "row": undo_plan(said)["rows"][1],
        "report": {**undo_plan(said), "reason": said, "left": said, "redo": "/r"}
        | {"failed": undo_plan(said)["rows"]},
        "progress": {"kind": "run", "id": "r1", "said": said, "url": "/p"}
        | {"goes_on": True},
        "undo": changed(said)["undo"],
        "offer": changed(said),
        "run_id": "r1",
        "said": said,
        "source": source(said),
        "listed": listed(said),
        "wish": {"said": said, "words": (said,), "archived": True},
        "pieces": pieces(said),
        "suggestions": suggestions(said),
        "deleted": said,
        "problem": said,
        "name_chars": 200,
        "shared": {"title": said, "by": said, "earlier": said}
        | {"entries": [user(said, by=said), shared_run(said)]},
        "address": said,
        "days": (7, 0),
        "is_changed": True,
        "notice": said,
        "next": "/admin/",
        "versions": versions(),
        "fork": fork(said),
        "form": "ai_assistant/message_edit.html",
        "to": "r2",
        "name": "close",
        "how": "retry",
        "asks": True,
        "side": "result",
        "raw": {
            "run": {"pk": said, "created_at": TIME},
            "facts": [(said, said)],
            "settings": [(said, said, said)],
        },
        "page_path": said,
        "options": [{"name": said, "hint": said, "is_own": True, "description": said}],
        "found": [{"id": said, "title": said, "kind": said}],
        "blocks": BLOCKS[:1],
        "answer": {"does": "undo", "value": said},
        "prompt": {
            "tokens": 7,
            "parts": [{"id": said, "source": said, "tokens": 7, "text": said}],
            "tools": {"tokens": 7, "text": said},
            "left_out": [said],
        },
        "csrf_token": "t" * 64,
        **unsaved(said),
    }


def unsaved(said: str) -> dict:
    """Return what the page asks of which a field was changed meanwhile."""
    return {
        "opts": Group._meta,
        "title": said,
        "subtitle": said,
        "choice": said,
        "conflicts": [
            Conflict(
                name=said,
                label=said,
                theirs=said,
                mine=said,
                at=TIME,
                by=said,
                is_touched=True,
                is_file=is_file,
            )
            for is_file in (False, True)
        ],
        "fields": [(said, said)],
        "files": [(said, said)],
        "stale": StaleBar(id=said, name=said, is_shown=True),
    }
