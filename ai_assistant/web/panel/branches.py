"""Versions of a question and its answer: another one, and which of them is shown."""

from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from ai_assistant.engine.service import (
    SentPage,
    Submission,
    Version,
    edited_submission,
    ended_run,
    regenerate_submission,
    send,
    switch,
)
from ai_assistant.engine.storage.units import in_db
from ai_assistant.render.html.transcript.groups import fork_entry
from ai_assistant.request_context import to_the_end
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.web.panel.access import FETCHED, back, done, own_page, panel_view
from ai_assistant.web.panel.fields import idempotency_key, page_path, read_uuid
from ai_assistant.web.panel.layout import read_layout
from ai_assistant.web.panel.panel import bare_panel

SAME = "same"
PAGE = "page"
PROFILE = "profile:"  # how a wish begins that names who is to answer


@require_http_methods(["GET", "POST"])
@panel_view(use=True)
async def regenerate_view(request: HttpRequest) -> HttpResponse:
    """Show the options for regenerating an answer (GET), or regenerate it (POST)."""
    if request.method == "GET":
        return await in_db(_form, request, "regenerate_menu")
    return await _send(request, partial(_regenerated, request))


@require_http_methods(["GET", "POST"])
@panel_view(use=True)
async def edit_message_view(request: HttpRequest) -> HttpResponse:
    """Show the form for editing a question (GET), or send the edited one (POST)."""
    if request.method == "GET":
        return await in_db(_form, request, "message_edit")
    return await _send(request, partial(_edited, request))


@require_POST
@panel_view(use=True)
async def branch_view(request: HttpRequest) -> HttpResponse:
    """Show another version."""
    await to_the_end(switch(request.user.pk, read_uuid(request, "run")))
    return done(request)


async def _send(
    request: HttpRequest, submission_of: Callable[[], Submission]
) -> HttpResponse:
    submission = await in_db(submission_of)
    await to_the_end(send(submission))
    return done(request)


def _form(request: HttpRequest, name: str) -> HttpResponse:
    """Draw a form: below its message, or on a page of its own."""
    run = ended_run(request.user.pk, read_uuid(request, "run"))
    left = back(request)
    context = {
        "fork": fork_entry(run, _path_of(left)),
        "title": request.GET.get("title", ""),
        "only_page": request.GET.get("how") == PAGE,
        "form": f"ai_assistant/{name}.html",
        "panel": bare_panel(request.user, left),
    }
    if request.headers.get(FETCHED):
        return render(request, f"ai_assistant/{name}.html", context)
    return own_page(request, "ai_assistant/fork_page.html", context)


def _regenerated(request: HttpRequest) -> Submission:
    how = request.POST.get("how", "")
    if how == PAGE:
        path = page_path(request.POST.get("path", ""))
        title = request.POST.get("title", "")
        return regenerate_submission(
            _version(request),
            wish="" if path else how,  # PAGE is not an offered wish: refused
            page=SentPage(path=path, title=title) if path else None,
        )
    is_profile = how.startswith(PROFILE)
    return regenerate_submission(
        _version(request),
        wish="" if how == SAME or is_profile else how,
        profile=how.removeprefix(PROFILE) if is_profile else "",
    )


def _path_of(url: str) -> str:
    """Return the path of a page of this site, with its query."""
    parts = urlsplit(url)
    return page_path(parts._replace(scheme="", netloc="", fragment="").geturl())


def _edited(request: HttpRequest) -> Submission:
    return edited_submission(_version(request), request.POST.get("text", ""))


def _version(request: HttpRequest) -> Version:
    return Version(
        user_id=request.user.pk,
        run_id=read_uuid(request, "run"),
        key=idempotency_key(request),
        stamp=session_stamp(request),
        look_only=read_layout(request).look_only,
    )
