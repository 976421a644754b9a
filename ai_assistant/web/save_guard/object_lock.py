"""Keeps an admin form from saving an object that a run has locked."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.engine.service import any_locks
from ai_assistant.modules.resolve import module_for, other_root
from ai_assistant.request_context import full_path
from ai_assistant.safety.object_locks import at_work_on

FORMS = frozenset({"change", "delete", "changelist"})
NAMES_OF_FORMS = tuple(f"_{action}" for action in FORMS)  # ends of the names of URLs
OWN_FIELDS = frozenset({"csrfmiddlewaretoken"})


def page_with_locks(request: HttpRequest) -> SitePage | None:
    """Return the page if an object of it may be locked. Asks no database."""
    match = request.resolver_match
    if match is not None and not str(match.url_name).endswith(NAMES_OF_FORMS):
        return None  # most pages: told before anything is looked for
    if not conf.enabled() or not any_locks() or not hasattr(request, "user"):
        return None
    page = find_page(full_path(request))
    if page is None or page.model_admin is None or page.info.action not in FORMS:
        return None
    return page


def answer_if_locked(request: HttpRequest, page: SitePage) -> HttpResponse | None:
    """
    Return the page that names who works on the object, instead of a save.

    It holds all that was entered. A form that is only opened gets a message.
    """
    admin = page.model_admin
    if not admin.admin_site.has_permission(request):
        return None
    if not admin.has_view_or_change_permission(request):
        return None
    if request.method == "POST":
        lock = at_work_on(admin.model, _posted_keys(request, page)).first()
        sentence = _sentence(admin.opts, lock) or _of_root(request, page)
        return _not_saved(request, page, sentence) if sentence else None
    if page.info.action == "change" and request.method == "GET":
        lock = at_work_on(admin.model, [page.info.object_id]).first()
        if sentence := _sentence(admin.opts, lock) or _of_root(request, page):
            messages.warning(request, sentence, fail_silently=True)
    return None


def _of_root(request: HttpRequest, page: SitePage) -> str:
    """Return who works on the object to which that of the page belongs; or ""."""
    if page.info.action == "changelist":
        return ""
    root = other_root(page, module_for(page.info, request.user), request.user)
    if root is None:
        return ""
    return _sentence(root._meta, at_work_on(type(root), [root.pk]).first())


def _posted_keys(request: HttpRequest, page: SitePage) -> list[Any] | None:
    """Return the keys of the objects that a POST may change; None for all."""
    if page.info.action != "changelist":
        return [page.info.object_id]
    posted = request.POST
    if posted.get("select_across", "0") != "0":
        return None
    keys = list(posted.getlist("_selected_action"))
    if "_save" in posted:
        ending = f"-{page.model_admin.opts.pk.name}"
        keys += [posted[name] for name in posted if name.endswith(ending)]
    return keys


def _not_saved(request: HttpRequest, page: SitePage, sentence: str) -> HttpResponse:
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in OWN_FIELDS
        for value in values
    ]
    context = {
        **page.model_admin.admin_site.each_context(request),
        "title": _("Not saved yet"),
        "opts": page.model_admin.opts,
        "sentence": sentence,
        "fields": fields,
        "has_files": bool(request.FILES),
    }
    response = render(request, "ai_assistant/locked.html", context, status=409)
    add_never_cache_headers(response)
    return response


def _sentence(options: Any, lock: Any) -> str:
    if lock is None:
        return ""
    return _(
        "The assistant is working on this %(name)s for %(user)s. It can be saved when "
        "that is done."
    ) % {"name": options.verbose_name, "user": lock.user.get_username()}
