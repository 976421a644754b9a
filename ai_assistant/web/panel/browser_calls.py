"""Reports of a page about its browser tool calls: a claim, and a result."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ai_assistant import conf
from ai_assistant.engine.service import (
    VALUE_CHARS,
    FromPage,
    claim_for_page,
    result_of_page,
)
from ai_assistant.exceptions import Refused
from ai_assistant.types.page import is_deep
from ai_assistant.web.panel.access import panel_view
from ai_assistant.web.panel.fields import page_path, read_uuid

TAB_CHARS = 64
UNREADABLE = (ValueError, RecursionError)


@require_POST
@panel_view(use=True)
async def claim_view(request: HttpRequest) -> HttpResponse:
    """Answer whether a request is the page's to execute, and for how long."""
    try:
        is_its_own = await claim_for_page(_said(request))
    except Refused:
        is_its_own = False
    return JsonResponse({"go": is_its_own, "lease": conf.BROWSER_LEASE_S})


@require_POST
@panel_view(use=True)
async def result_view(request: HttpRequest) -> HttpResponse:
    """Take the result of a request. A second result, or another tab's, is ignored."""
    try:
        await result_of_page(_said(request))
    except Refused as refused:
        return JsonResponse({"taken": False, "code": refused.code})
    return JsonResponse({"taken": True})


def _said(request: HttpRequest) -> FromPage:
    value, problem = _value(request.POST.get("value", ""))
    return FromPage(
        user_id=request.user.pk,
        interrupt_id=read_uuid(request, "interrupt"),
        nonce=request.POST.get("nonce", ""),
        tab=request.POST.get("tab", "")[:TAB_CHARS],
        value=value,
        code="failed" if problem else request.POST.get("code", ""),
        error=problem or request.POST.get("error", ""),
        path=page_path(request.POST.get("path", "")),
    )


def _value(text: str) -> tuple[Any, str]:
    """Return the value, and what is wrong with it."""
    if len(text) > VALUE_CHARS:
        return None, _("Its answer is too large.")
    try:
        value = json.loads(text, parse_constant=_no_number) if text else None
    except UNREADABLE:
        return None, _("Its answer cannot be read.")
    return (
        (None, _("Its answer is nested too deeply.")) if is_deep(value) else (value, "")
    )


def _no_number(name: str) -> None:
    """Refuse NaN and its like: no database takes them as JSON."""
    raise ValueError(name)
