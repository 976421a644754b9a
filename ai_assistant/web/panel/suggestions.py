"""
What an empty panel offers: a headline, and sentences to send.

The sentences are made of what the ModelAdmin of the page declares: its filters, dates
and actions. Only permissions are asked for, never the rows of a table.
"""

import logging
import re
from collections.abc import Iterator
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import FieldDoesNotExist
from django.db.models import DateField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.configuration.suggested import suggested
from ai_assistant.context.opened import page_request
from ai_assistant.context.page import SitePage, admin_sites, find_page, has_model
from ai_assistant.context.page_items import OBJECT
from ai_assistant.context.provided import is_withheld
from ai_assistant.context.viewparts import registered_parts
from ai_assistant.engine.service import written_suggestions
from ai_assistant.engine.storage.units import in_db, in_tool_thread
from ai_assistant.modules.resolve import is_page_open, module_of, page_context
from ai_assistant.registry import registry
from ai_assistant.request_context import to_the_end
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import is_denied
from ai_assistant.safety.policy.sensitive import (
    is_opted_out,
    is_sensitive_field,
    is_sensitive_model,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.types import RunContext, Suggestion
from ai_assistant.web.panel.access import panel_view
from ai_assistant.web.panel.chips import Chips
from ai_assistant.web.panel.fields import page_path

logger = logging.getLogger("ai_assistant")

SHOWN = 4
LABEL_CHARS = 60
OF_DJANGO = "django.contrib."
CREATED = re.compile(r"(^|_)(created|added|joined|registered)($|_)")
BUILT_IN_ACTION = "delete_selected"

# The tool that answers a sentence: where it is not to be had, nothing is offered.
COUNT, FIELDS, READ = "aggregate_objects", "describe_model", "get_object"
HISTORY, CHANGE, MODELS = "object_history", "change_object", "list_models"

Offer = tuple[str, str]  # the tool, and the sentence


def suggestions_of(
    context: RunContext, chips: Chips, *, readonly: bool = False
) -> list[Suggestion]:
    """
    Return what to press on the page of `context`: what apps and rows suggest first.

    Then come the sentences of its view, its module and its ModelAdmin. `readonly`: what is opened there is not to be changed.
    """
    page, module = find_page(context.page_path), module_of(context)
    if not is_page_open(page, module, context.user):
        return []
    nothing: list[str] = []
    named = value_or(
        nothing,
        lambda: list(map(str, module.get_suggestions(context))),
        "get_suggestions of module %r failed",
        module.id,
    )
    own = registered_parts(page.view, page.model_admin).suggestions if page else ()
    last = list(map(str, conf.profile().get("SUGGESTIONS", ())))
    of_page = _of_page(page, context, chips, readonly=readonly) if page else ()
    taught = {one.label: one for one in suggested(context)}
    said = dict.fromkeys((*taught, *map(str, own), *named, *of_page))
    labels = [*list(said)[: SHOWN - len(last)], *last]
    return [taught.get(label) or Suggestion(label=label) for label in labels]


@require_GET
@panel_view(use=True)
async def suggestions_view(request: HttpRequest) -> HttpResponse:
    """Return what models suggest on a page, for a panel that shows the others."""
    path = page_path(request.GET.get("path", ""))
    context = await in_tool_thread(page_context, request.user, path)
    # It is kept for the next time, even if this one has left.
    found = await to_the_end(written_suggestions(context))
    drawing = "ai_assistant/suggestions.html", {"suggestions": found}
    return await in_db(render, request, *drawing)


def headline_of(context: RunContext, chips: Chips, *, readonly: bool = False) -> str:
    """Return what an empty panel asks the person there."""
    page = find_page(context.page_path)
    subject = _subject(page, chips) if page else ""
    if not subject:
        return _("How can I help?")
    if readonly:
        return _("What would you like to know about %(subject)s?") % {
            "subject": subject
        }
    return _("How can I help with %(subject)s?") % {"subject": subject}


def _subject(page: SitePage, chips: Chips) -> str:
    opened = _object_label(chips)
    if opened or page.model_admin is None:
        return opened
    if page.info.action in ("changelist", ""):
        return str(page.model_admin.opts.verbose_name_plural)
    if page.info.action == "add":
        name = page.model_admin.opts.verbose_name
        return _("a new %(model)s") % {"model": name}
    return ""


def _object_label(chips: Chips) -> str:
    """Return the name of the page's object, if the person may see one."""
    name = next((c.name for c in chips.items if c.id == OBJECT and not c.error), "")
    if not name or chips.withheld:
        return ""
    if len(name) > LABEL_CHARS:
        name = f"{name[: LABEL_CHARS - 1]}…"
    return _("“%(name)s”") % {"name": name}


# --- the sentences of a page ---


def _of_page(
    page: SitePage, context: RunContext, chips: Chips, *, readonly: bool
) -> Iterator[str]:
    if are_enabled(context):
        try:
            for tool, sentence in _offers(page, context, chips, readonly=readonly):
                if _has_tool(tool, context):
                    yield sentence
        except Exception:  # code of the site: its ModelAdmin
            logger.exception("not all is suggested on %r", context.page_path)
    yield _("What can I do on this page?")


def _has_tool(name: str, context: RunContext) -> bool:
    tool = registry.tool(name)
    return (
        tool is not None
        and may_call(context.user, tool)
        and not is_denied(tool, user=context.user, module=context.module)
    )


def _offers(
    page: SitePage, context: RunContext, chips: Chips, *, readonly: bool
) -> Iterator[Offer]:
    request = page_request(page, context.user)
    admin = page.model_admin
    if admin is None:
        yield from _of_site(page, request)
    elif not is_withheld(page) and admin.has_view_permission(request):
        if _object_label(chips):
            yield from _of_object(page, request, readonly=readonly)
        else:
            yield from _of_list(page, request, readonly=readonly)


def _of_site(page: SitePage, request: HttpRequest) -> Iterator[Offer]:
    """Yield what to ask on a start page: about its first models, the site's own first."""
    admins = [one for one in _admins(page) if _is_open(one, request)]
    admins.sort(key=lambda one: type(one).__module__.startswith(OF_DJANGO))
    if not admins:
        return
    yield COUNT, _how_many(admins[0])
    dated = next((sentence for one in admins if (sentence := _recent(one))), "")
    if dated:
        yield COUNT, dated
    yield MODELS, _("What can you look up here?")


def _admins(page: SitePage) -> list[Any]:
    """Return the ModelAdmins of the page's site, or of its app, as registered."""
    label = page.info.app_label
    return [
        model_admin
        for site in admin_sites(page.match)
        for model, model_admin in site._registry.items()
        if has_model(model_admin) and label in ("", model._meta.app_label)
    ]


def _is_open(model_admin: Any, request: HttpRequest) -> bool:
    model = model_admin.model
    if is_sensitive_model(model) or is_opted_out(model, model_admin):
        return False
    return value_or(False, lambda: bool(model_admin.has_view_permission(request)))


def _of_list(
    page: SitePage, request: HttpRequest, *, readonly: bool
) -> Iterator[Offer]:
    admin, info = page.model_admin, page.info
    names = {"models": admin.opts.verbose_name_plural}
    if info.action == "add":
        yield FIELDS, _("What do I have to fill in here?")
    if info.search or info.filters:
        yield COUNT, _("How many %(models)s are on this list?") % names
    yield COUNT, _how_many(admin)
    if recent := _recent(admin):
        yield COUNT, recent
    if label := _group(admin, request):
        yield COUNT, _("Count the %(models)s by %(field)s.") % {**names, "field": label}
    if not readonly and _actions(admin, request):
        yield FIELDS, _("What can be done with selected %(models)s?") % names
    if not readonly and info.action != "add" and admin.has_add_permission(request):
        name = {"model": admin.opts.verbose_name}
        yield FIELDS, _("What does a new %(model)s need?") % name


def _of_object(
    page: SitePage, request: HttpRequest, *, readonly: bool
) -> Iterator[Offer]:
    admin = page.model_admin
    name = {"model": admin.opts.verbose_name}
    history = HISTORY, _("Who changed this %(model)s, and when?") % name
    if page.info.action == "history":
        yield history
    yield READ, _("Summarize this %(model)s.") % name
    may_change = page.info.action == "change" and not readonly
    field = _choice(admin, request) if may_change else None
    if field is not None:
        label = {**name, "field": field.verbose_name}
        yield CHANGE, _("Change “%(field)s” of this %(model)s.") % label
    if page.info.action != "history":
        yield history
    yield READ, _("What is still empty in this %(model)s?") % name


# --- what a ModelAdmin declares ---


def _how_many(admin: Any) -> str:
    names = {"models": admin.opts.verbose_name_plural}
    return _("How many %(models)s are there?") % names


def _recent(admin: Any) -> str:
    """Return the question about this week's rows, if a date says which they are."""
    names = {"models": admin.opts.verbose_name_plural}
    dates = [
        field
        for field in admin.opts.concrete_fields
        if isinstance(field, DateField) and not is_sensitive_field(field)
    ]
    shown = _declared(admin)
    for field in dates:
        if field.name not in shown:
            continue
        if "joined" in field.name:
            return _("How many %(models)s joined this week?") % names
        if field.auto_now_add or CREATED.search(field.name):
            return _("How many %(models)s were added this week?") % names
    if any(field.name == admin.date_hierarchy for field in dates):
        return _("How many %(models)s are from this week?") % names
    return ""


def _declared(admin: Any) -> set[str]:
    """Return the fields that list and form name, without building the form."""
    parts: Any = admin.fieldsets or [(None, {"fields": admin.fields or ()})]
    flat = flatten_fieldsets(parts)
    return {
        str(name)
        for name in (*admin.list_display, *admin.readonly_fields, *flat)
        if isinstance(name, str)
    }


def _group(admin: Any, request: HttpRequest) -> str:
    """Return the label of a filter of the list that is a column of it too."""
    columns = set(admin.get_list_display(request))
    for one in admin.get_list_filter(request):
        name = one[0] if isinstance(one, (list, tuple)) else one
        if isinstance(name, str) and name in columns:
            field = _field(admin, name)
            if field is not None and not is_sensitive_field(field):
                return str(field.verbose_name)
    return ""


def _field(admin: Any, name: str) -> Any:
    try:
        return admin.opts.get_field(name)
    except FieldDoesNotExist:
        return None


def _actions(admin: Any, request: HttpRequest) -> bool:
    """Return whether the person has an action there besides that of Django."""
    return bool(set(admin.get_actions(request)) - {BUILT_IN_ACTION})


def _choice(admin: Any, request: HttpRequest) -> Any:
    """Return the first field of few values that the form lets the person change."""
    if not admin.has_change_permission(request):
        return None
    fixed = set(admin.get_readonly_fields(request))
    shown = _declared(admin) if admin.fields or admin.fieldsets else None
    for field in admin.opts.concrete_fields:
        is_shown = shown is None or field.name in shown
        is_open = is_shown and field.editable and field.name not in fixed
        if field.choices and is_open and not is_sensitive_field(field):
            return field
    return None
