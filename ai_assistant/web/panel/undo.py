"""Undo and redo: the plan on a card, or a page of its own, and doing what it says."""

from dataclasses import replace
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from ai_assistant.changes.undo.values import Choice, UndoPlan
from ai_assistant.engine.queries import find_conversation, get_or_404, last_run, runs
from ai_assistant.engine.service import (
    TargetKind,
    Undone,
    UndoRequest,
    UndoTarget,
    go_back,
    stop_undo,
    undo,
    undo_plan,
    undo_progress,
    undo_summary,
)
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import Refused
from ai_assistant.render.html.diffs.changes import changes_of_runs
from ai_assistant.render.html.diffs.undo import plan_entry, report_entry
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.request_context import full_path, to_the_end
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.web.panel.access import FETCHED, back, done, own_page, panel_view
from ai_assistant.web.panel.banners import KEPT, offer_of
from ai_assistant.web.panel.fields import MOST_ROWS, read_uuid
from ai_assistant.web.panel.panel import bare_panel

KINDS: tuple[TargetKind, ...] = ("run", "call", "change", "since")
CONFLICT = "conflict-"


@require_http_methods(["GET", "POST"])
@panel_view(use=True)
async def undo_view(request: HttpRequest) -> HttpResponse:
    """Show what undoing changes would do (GET), or do it (POST)."""
    if request.method == "GET" and "progress" in request.GET:
        return await _progress(request)
    if request.method == "GET":
        stamp = session_stamp(request)
        plan = await undo_plan(request.user.pk, _target(request), stamp)
        return await in_db(_plan_page, request, plan)
    if request.POST.get("do") == "keep":
        return await in_db(_keep, request)
    if request.POST.get("do") == "stop":
        await stop_undo(request.user.pk, _target(request))
        fetched = request.headers.get(FETCHED)
        return await _progress(request) if fetched else done(request)
    decided, at_once = _decided(request), request.POST.get("do") == "now"
    undone = await _carry_out(decided, at_once=at_once)
    if undone.moved is not None:
        page = partial(_plan_page, moved=not at_once)
        return await in_db(page, request, undone.moved)
    is_back = decided.target.kind == "since"
    first = await in_db(_is_first, request, decided) if is_back else False
    return await in_db(partial(_done, is_first=first), request, undone)


async def _carry_out(decided: UndoRequest, *, at_once: bool) -> Undone:
    """Do what was decided, or return the plan that a person has to look at."""
    if at_once:
        plan = await undo_plan(decided.user_id, decided.target, decided.stamp)
        if not plan.is_plain:
            return Undone(moved=plan)
        decided = replace(decided, digest=plan.digest, choice=Choice())
    is_back = decided.target.kind == "since"
    return await to_the_end((go_back if is_back else undo)(decided))


def _target(request: HttpRequest) -> UndoTarget:
    for kind in KINDS:
        if kind in request.POST or kind in request.GET:
            return UndoTarget(kind=kind, id=read_uuid(request, kind))
    raise Refused("not_found", _("These changes do not exist."))


def _decided(request: HttpRequest) -> UndoRequest:
    chosen = frozenset(request.POST.getlist("rows")[:MOST_ROWS])
    listed = frozenset(request.POST.getlist("listed")[:MOST_ROWS])
    takes_rest = request.POST.get("rest") == "1"
    target, digest = _target(request), request.POST.get("digest", "")
    is_back = target.kind == "since"
    overruled = [
        value
        for name, value in request.POST.items()
        if name.startswith(CONFLICT) and isinstance(value, str) and value
    ]
    return UndoRequest(
        user_id=request.user.pk,
        target=target,
        # Who goes back may leave all as it is.
        digest="" if is_back and not chosen and not takes_rest else digest,
        choice=Choice(
            rows=None if takes_rest else chosen,
            left_out=listed - chosen if takes_rest else frozenset(),
            overruled=frozenset(overruled),
        ),
        stamp=session_stamp(request),
    )


def _plan_page(
    request: HttpRequest, plan: UndoPlan, *, moved: bool = False
) -> HttpResponse:
    """Draw the plan: as a card of the panel, or on a page of its own."""
    target = _target(request)
    only = request.GET.get("only", "")
    entry = plan_entry(plan, {target.kind: target.id}, _url(request, target), only)
    entry["has_moved"] = moved
    context = {"plan": entry, "panel": bare_panel(request.user, back(request))}
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/undo_plan.html", context)
    status = 409 if moved else 200
    return own_page(request, "ai_assistant/undo_page.html", context, status=status)


def _url(request: HttpRequest, target: UndoTarget) -> str:
    return f"{full_path(request).partition('?')[0]}?{target.kind}={target.id}"


async def _progress(request: HttpRequest) -> HttpResponse:
    """Draw how far an undo of many rows is; it asks again each second."""
    target = _target(request)
    found = await undo_progress(request.user.pk, target)
    counts = {"count": found.done, "total": found.total}
    said = _("%(count)d of %(total)d undone") % counts
    if found.is_stopping:
        said = f"{said} · {_('Stopping')}"
    progress = {
        **counts,
        "is_stopping": found.is_stopping,
        "kind": target.kind,
        "id": target.id,
        "said": said,
        "url": f"{_url(request, target)}&progress=1",
        "goes_on": found.done < found.total,
    }
    context = {"progress": progress, "panel": bare_panel(request.user, back(request))}
    return render(request, "ai_assistant/undo_progress.html", context)


def _report(request: HttpRequest, undone: Undone) -> Entry | None:
    """Return what is drawn of an undo that ended before its end."""
    if not undone.reason:
        return None
    target = _target(request)
    made = undone.change_id
    redo = _url(request, UndoTarget(kind="change", id=made)) if made else ""
    counts = len(undone.rows), len(undone.untouched)
    urls = _url(request, target), redo
    return report_entry(counts, undone.failed, undone.reason, urls)


def _is_first(request: HttpRequest, decided: UndoRequest) -> bool:
    """Return whether a conversation went back to before its first message."""
    return runs(request.user.pk).filter(pk=decided.target.id, after=None).exists()


def _done(
    request: HttpRequest, undone: Undone, *, is_first: bool = False
) -> HttpResponse:
    """Draw the list of changes anew, and the banner; the plan goes, or says the rest."""
    panel, report = bare_panel(request.user, back(request)), _report(request, undone)
    if not request.headers.get(FETCHED):
        drawn = {"panel": panel, "report": report}
        page = "ai_assistant/undo_report_page.html"
        return own_page(request, page, drawn) if report else done(request)
    changes = changes_of_runs([undone.run_id]) if undone.run_id else {}
    target = _target(request)
    context: dict[str, Any] = {
        "panel": panel,
        "run_id": undone.run_id,
        "plan_of": f"{target.kind}-{target.id}",
        "entry": {"changes": changes.get(undone.run_id) if undone.run_id else None},
        "offer": None,
        "said": _said(undone),
        "report": report,
        "is_first": is_first,
    }
    conversation = find_conversation(request.user.pk, str(undone.conversation_id))
    last = last_run(conversation)
    context["offer"] = offer_of(last, request)
    return render(request, "ai_assistant/undo_done.html", context)


def _said(undone: Undone) -> str:
    """Return what is said of an undo to who does not see it."""
    count = len(undone.rows)
    text = ngettext("%(count)d change undone", "%(count)d changes undone", count)
    return text % {"count": count}


def _keep(request: HttpRequest) -> HttpResponse:
    """Offer no undo of a run above the conversation any more."""
    run = get_or_404(runs(request.user.pk), read_uuid(request, "run"))
    response = done(request)
    if request.headers.get(FETCHED):
        context = {"panel": bare_panel(request.user, back(request)), "offer": None}
        response = render(request, "ai_assistant/undo_banner.html", context)
    response.set_cookie(
        KEPT, str(run.pk), samesite="Lax", secure=request.is_secure(), httponly=True
    )
    return response


@require_POST
@panel_view(use=True)
async def summary_view(request: HttpRequest) -> HttpResponse:
    """Take a summary back: the assistant gets the messages themselves again."""
    summary_id = read_uuid(request, "summary")
    await to_the_end(undo_summary(request.user.pk, summary_id))
    return done(request)
