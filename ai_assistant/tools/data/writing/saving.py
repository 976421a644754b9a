"""Save a page as the admin does, with an entry in the history that names the assistant."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import ModelAdmin
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import override

from ai_assistant.changes.capture import recorder
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.tools.data.access.model_admin import AdminAccess, at_object
from ai_assistant.tools.data.access.shown import changelist_rows, limits_list
from ai_assistant.tools.data.access.sites import is_custom_page, post_page
from ai_assistant.tools.data.writing.differences import form_changes, removed_inlines
from ai_assistant.tools.data.writing.submission import FormSubmission, with_post
from ai_assistant.types import RunContext

RUN_CHARS = 8
MOST_SOUGHT = 1000


def sign(context: RunContext, told: Any, objects: Sequence[Model]) -> None:
    """
    Add "(Assistant, run 1a2b3c4d)" to the entries of `objects` that were just written.

    `told` is what the ModelAdmin returned for them; one that returns nothing has
    written its entries as it likes, and the newest are taken. The message becomes a
    plain text, in the language of the site: the admin drops all it does not know
    from a structured one.
    """
    entries = _entries(told) or _newest(context, objects)
    with override(settings.LANGUAGE_CODE):
        own = signature(context)
        for entry in entries:
            said = entry.get_change_message()
            entry.change_message = f"{said} {own}" if said else own
    if len(entries) == 1:
        entries[0].save(update_fields=["change_message"])
    elif entries:
        LogEntry.objects.bulk_update(entries, ["change_message"], batch_size=400)


def logs_as_django(model_admin: Any) -> bool:
    """Tell whether the ModelAdmin writes its entries as Django does, any text."""
    own = type(model_admin)
    django = ModelAdmin.log_addition, ModelAdmin.log_change
    return (own.log_addition, own.log_change) == django


def signed(context: RunContext, message: Any) -> str:
    """Return the text that `sign` makes of a message that is not written yet."""
    with override(settings.LANGUAGE_CODE):
        plain = message if isinstance(message, str) else json.dumps(message)
        said = LogEntry(change_message=plain).get_change_message()
        own = signature(context)
        return f"{said} {own}" if said else own


def own_entries(context: RunContext, model: type[Model], *, after: int) -> Any:
    """Return what the user did to objects of `model`, as entries above a key."""
    kind = ContentType.objects.get_for_model(model, for_concrete_model=False)
    return LogEntry.objects.filter(
        pk__gt=after, user_id=context.user.pk, content_type=kind
    )


def signature(context: RunContext) -> str:
    """Return "(Assistant, run 1a2b3c4d)"."""
    return _("(Assistant, run %(run)s)") % {"run": str(context.run_id)[:RUN_CHARS]}


def _entries(told: Any) -> list[LogEntry]:
    listed = told if isinstance(told, list | tuple) else [told]
    found = [one for one in listed if isinstance(one, LogEntry)]
    return [one for one in found if one.pk]


def _newest(context: RunContext, objects: Sequence[Model]) -> list[LogEntry]:
    """Return the newest entry of each object by this user, if there is one."""
    if not objects:
        return []
    kind = ContentType.objects.get_for_model(objects[0], for_concrete_model=False)
    ids = [str(one.pk) for one in objects[:MOST_SOUGHT]]
    found = LogEntry.objects.filter(
        user_id=context.user.pk, content_type=kind, object_id__in=ids
    )
    newest: dict[str | None, LogEntry] = {}
    for entry in found.order_by("pk"):
        newest[entry.object_id] = entry
    marked = str(context.run_id)[:RUN_CHARS]
    return [one for one in newest.values() if marked not in one.change_message]


def save(context: RunContext, submitted: FormSubmission) -> Model:
    """
    Save a valid page and return its object, with an entry in its history.

    The same calls of the ModelAdmin in the same order as its own page makes them.
    Raise ModelRetry if its code finds a value wrong only now.
    """
    try:
        return _save(context, submitted)
    except ValidationError as error:
        raise ModelRetry(f"It cannot be saved: {' '.join(error.messages)}") from error


def _save(context: RunContext, submitted: FormSubmission) -> Model:
    model_admin, request = submitted.door.model_admin, submitted.door.request
    form, formsets = submitted.form, submitted.formsets
    changes, adds = not submitted.adds, submitted.adds
    record_rows_before(form_changes(submitted), removed_inlines(submitted))
    if submitted.is_whole_page and is_custom_page(
        submitted.door, "add" if adds else "change"
    ):
        return _post(context, submitted)
    saved = model_admin.save_form(request, form, change=changes)
    model_admin.save_model(request, saved, form, changes)
    model_admin.save_related(request, form, formsets, changes)
    message = model_admin.construct_change_message(request, form, formsets, adds)
    log = model_admin.log_addition if adds else model_admin.log_change
    if logs_as_django(model_admin):
        log(request, saved, signed(context, message))
    else:
        sign(context, log(request, saved, message), [saved])
    return saved  # type: ignore[no-any-return]


def _post(context: RunContext, submitted: FormSubmission) -> Model:
    """Save by the page itself, which is code of the site."""
    last = LogEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    post_page(submitted.door)
    found = list(own_entries(context, submitted.door.model, after=last))
    sign(context, found, ())
    if submitted.obj is not None:
        return submitted.obj
    made = next((entry.object_id for entry in found if entry.is_addition()), None)
    if made is None:
        raise ToolFailed(_("The page has not told what it added."))
    return submitted.door.model._base_manager.get(pk=made)


def delete_as_admin(
    context: RunContext, door: AdminAccess, objects: Sequence[Model]
) -> None:
    """Delete objects as the admin does: one by its page, several by its list."""
    record_rows_before((), objects)
    pages = [(one, at_object(door, one.pk, "delete")) for one in objects]
    if any(is_custom_page(page, "delete") for _one, page in pages):
        for one, page in pages:
            _post_deletion(context, page, one)
        return
    model_admin, request = door.model_admin, door.request
    entries = model_admin.log_deletions(request, objects)
    sign(context, entries, objects)
    in_list = "delete_selected" in model_admin.get_actions(request)
    pks = [one.pk for one in objects]
    if len(objects) == 1 or not in_list or not _are_listed(door, pks):
        for one in objects:
            model_admin.delete_model(request, one)
        return
    chosen = model_admin.get_queryset(request).filter(pk__in=pks)
    model_admin.delete_queryset(request, chosen)


def _are_listed(door: AdminAccess, pks: Sequence[Any]) -> bool:
    """Tell whether a list of Django's own has all of them."""
    if is_custom_page(door, "changelist"):
        return False
    return not limits_list(door) or changelist_rows(door).filter(
        pk__in=pks
    ).count() == len(pks)


def _post_deletion(context: RunContext, page: AdminAccess, obj: Model) -> None:
    last = LogEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    data = QueryDict(mutable=True)
    data["post"] = "yes"
    post_page(with_post(page, data))
    sign(context, list(own_entries(context, type(obj), after=last)), ())


def record_rows_before(changed: Iterable[Model], deleted: Iterable[Model]) -> None:
    """Let the recorder of this call, if there is one, keep the rows as they are."""
    current = recorder.current_recorder()
    if current is None:
        return
    if rows := list(changed):
        current.cover(rows)
    if gone := list(deleted):
        current.cover_delete(gone)
