"""Save and delete as the admin does, with log entries that name the assistant."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import ModelAdmin
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import override

from ai_assistant.changes.capture import recorder
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.visibility import changelist_rows, limits_list
from ai_assistant.tools.data.writing.differences import form_changes, removed_inlines
from ai_assistant.tools.data.writing.submission import FormSubmission, with_post
from ai_assistant.types import RunContext

RUN_CHARS = 8
MOST_SOUGHT = 1000


def save(context: RunContext, submitted: FormSubmission) -> Model:
    """
    Save a valid page and return its object, with an entry in its history.

    The methods of the ModelAdmin are called in the same order as by its own page. Raise
    ModelRetry if its code rejects a value only now.
    """
    model_admin, request = submitted.access.model_admin, submitted.access.request
    form, formsets, adds = submitted.form, submitted.formsets, submitted.adds
    try:
        record_rows_before(form_changes(submitted), removed_inlines(submitted))
        has_own_page = submitted.access.page != "changelist"
        if has_own_page and submitted.access.is_custom_page():
            return _save_by_page(context, submitted)
        saved: Model = model_admin.save_form(request, form, change=not adds)
        model_admin.save_model(request, saved, form, not adds)
        model_admin.save_related(request, form, formsets, not adds)
        message = model_admin.construct_change_message(request, form, formsets, adds)
        log = model_admin.log_addition if adds else model_admin.log_change
        admin_class = type(model_admin)
        methods = (admin_class.log_addition, admin_class.log_change)
        if methods == (ModelAdmin.log_addition, ModelAdmin.log_change):
            text = message if isinstance(message, str) else json.dumps(message)
            log(request, saved, _signed(context, LogEntry(change_message=text)))
        else:
            _sign(context, log(request, saved, message), [saved])
    except ValidationError as error:
        raise ModelRetry(f"It cannot be saved: {' '.join(error.messages)}") from error
    return saved


def _save_by_page(context: RunContext, submitted: FormSubmission) -> Model:
    """Save by posting to the page itself, which is code of the site."""
    entries = _post_and_sign(context, submitted.access, submitted.access.model)
    if submitted.obj is not None:
        return submitted.obj
    added = next((entry.object_id for entry in entries if entry.is_addition()), None)
    if added is None:
        raise ToolFailed(_("The page did not report what it added."))
    return submitted.access.model._base_manager.get(pk=added)


def delete_as_admin(
    context: RunContext, access: AdminAccess, objects: Sequence[Model]
) -> None:
    """Delete objects as the admin does: one by its page, several by its list."""
    record_rows_before((), objects)
    pages = [access.at_object(obj.pk, "delete") for obj in objects]
    if any(page.is_custom_page() for page in pages):
        for obj, page in zip(objects, pages, strict=True):
            data = QueryDict(mutable=True)
            data["post"] = "yes"
            _post_and_sign(context, with_post(page, data), type(obj))
        return
    model_admin, request = access.model_admin, access.request
    entries = model_admin.log_deletions(request, objects)
    _sign(context, entries, objects)
    has_action = "delete_selected" in model_admin.get_actions(request)
    pks = [obj.pk for obj in objects]
    if len(objects) == 1 or not has_action or not _are_listed(access, pks):
        for obj in objects:
            model_admin.delete_model(request, obj)
        return
    queryset = model_admin.get_queryset(request).filter(pk__in=pks)
    model_admin.delete_queryset(request, queryset)


def _are_listed(access: AdminAccess, pks: Sequence[Any]) -> bool:
    """Return whether a list of Django's own has all of them."""
    if access.is_custom_page():
        return False
    if not limits_list(access):
        return True
    return changelist_rows(access).filter(pk__in=pks).count() == len(pks)


# --- the log of the admin ---


def _post_and_sign(
    context: RunContext, access: AdminAccess, model: type[Model]
) -> list[LogEntry]:
    """Post to a custom page, and return the entries that it wrote, signed."""
    last = LogEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    access.post_page()
    entries = list(_user_entries(context, model).filter(pk__gt=last))
    _sign(context, entries, ())
    return entries


def _user_entries(context: RunContext, model: Any) -> QuerySet[LogEntry]:
    """Return the entries of this user on objects of `model`."""
    kind = ContentType.objects.get_for_model(model, for_concrete_model=False)
    return LogEntry.objects.filter(user_id=context.user.pk, content_type=kind)


def _sign(context: RunContext, logged: Any, objects: Sequence[Model]) -> None:
    """
    Add "(Assistant, run 1a2b3c4d)" to the entries of `objects` that were just written.

    `logged` is what the ModelAdmin returned for them; one that returns nothing has
    written its entries in its own way, and the newest are taken. The message becomes
    plain text, in the language of the site: the admin drops all it does not know from
    a structured one.
    """
    returned = logged if isinstance(logged, list | tuple) else [logged]
    entries = [entry for entry in returned if isinstance(entry, LogEntry) and entry.pk]
    entries = entries or _newest_entries(context, objects)
    for entry in entries:
        entry.change_message = _signed(context, entry)
    if len(entries) == 1:
        entries[0].save(update_fields=["change_message"])
    elif entries:
        LogEntry.objects.bulk_update(entries, ["change_message"], batch_size=400)


def _signed(context: RunContext, entry: LogEntry) -> str:
    """Return the change message of an entry, saved or not, with the signature."""
    with override(settings.LANGUAGE_CODE):
        signature = _("(Assistant, run %(run)s)") % {"run": _short_run_id(context)}
        return " ".join(filter(None, (entry.get_change_message(), signature)))


def _short_run_id(context: RunContext) -> str:
    return str(context.run_id)[:RUN_CHARS]


def _newest_entries(context: RunContext, objects: Sequence[Model]) -> list[LogEntry]:
    """Return the newest unsigned entry of each object by this user, if there is one."""
    if not objects:
        return []
    ids = [str(obj.pk) for obj in objects[:MOST_SOUGHT]]
    entries = _user_entries(context, objects[0]).filter(object_id__in=ids)
    newest: dict[str | None, LogEntry] = {}
    for entry in entries.order_by("pk"):
        newest[entry.object_id] = entry
    run = _short_run_id(context)
    return [entry for entry in newest.values() if run not in entry.change_message]


def record_rows_before(changed: Iterable[Model], deleted: Iterable[Model]) -> None:
    """Let the recorder of this call, if any, take images of the rows first."""
    current = recorder.current_recorder()
    if current is None:
        return
    if rows := list(changed):
        current.cover(rows)
    if rows := list(deleted):
        current.cover_delete(rows)
