"""Save and delete as the admin does, with log entries that name the assistant."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.admin.options import ModelAdmin
from django.contrib.contenttypes.models import ContentType
from django.db import router
from django.db.models import Model, QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import override

from ai_assistant.changes.capture import recorder
from ai_assistant.changes.values import concrete
from ai_assistant.exceptions import ToolFailed
from ai_assistant.tools.adapters.request import page_closed
from ai_assistant.tools.adapters.site_request import through_site
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.visibility import changelist_rows, limits_list
from ai_assistant.tools.data.errors import site_validation, wrong_values
from ai_assistant.tools.data.writing import results
from ai_assistant.tools.data.writing.differences import form_changes, removed_inlines
from ai_assistant.tools.data.writing.page_post import Formsets, PagePost
from ai_assistant.tools.data.writing.submission import (
    FormSubmission,
    posting_list,
    with_post,
)
from ai_assistant.types import RunContext, ToolResult

DELETE_SELECTED = "delete_selected"  # the action of Django's own
RUN_CHARS = 8
MOST_SOUGHT = 1000


def save_row(context: RunContext, submitted: FormSubmission) -> Model:
    """
    Save a valid form of a row and return its object, with an entry in its history.

    The methods of the ModelAdmin are called as by its list, where that edits rows.
    Raise NotValid if its code rejects a value only now.
    """
    with site_validation(submitted.access.model):
        return through_site(
            submitted.access.request, lambda: _save_row(context, submitted)
        )


def _save_row(context: RunContext, submitted: FormSubmission) -> Model:
    model_admin, request = submitted.access.model_admin, submitted.access.request
    form = submitted.form
    record_rows_before(form_changes(submitted), ())
    saved: Model = model_admin.save_form(request, form, change=True)
    is_change = True
    model_admin.save_model(request, saved, form, is_change)
    model_admin.save_related(request, form, formsets=[], change=True)
    message = model_admin.construct_change_message(request, form, None)
    log = _log_signed(context, model_admin, model_admin.log_change)
    log(request, saved, message)
    return saved


def save_page(
    context: RunContext,
    submitted: FormSubmission,
    check: Callable[[], None] = lambda: None,
) -> Model | ToolResult:
    """
    Post the page to its view and return the object that it saved.

    `check` is called with the page's own forms, which are valid, before it saves. The
    result of a page that refuses the values, or would change nothing, is returned.
    Raise NotValid if its code rejects a value only as it saves.
    """
    if not submitted.can_watch:
        return _save_unwatched(context, submitted, check)

    def may_save(form: Any, formsets: Formsets) -> bool:
        submitted.take(form, formsets)
        submitted.restore_untouched()
        if not submitted.adds and not submitted.has_changed():
            return False
        check()
        record_rows_before(form_changes(submitted), removed_inlines(submitted))
        return True

    def watch(own: Any) -> None:
        own.log_addition = _log_signed(context, own, own.log_addition)
        own.log_change = _log_signed(context, own, own.log_change)

    page = PagePost(submitted.access, watch)
    with site_validation(submitted.access.model), _signing(context, submitted):
        page.send(may_save)
    if page.saved is not None:
        return page.saved  # type: ignore[no-any-return]
    submitted.take(*page.forms())
    if submitted.is_valid():
        return results.nothing_to_change()
    return results.form_errors(submitted)


def _save_unwatched(
    context: RunContext, submitted: FormSubmission, check: Callable[[], None]
) -> Model | ToolResult:
    """Post a page whose view is no method of the ModelAdmin, so that it is not seen."""
    with wrong_values():
        if not submitted.is_valid():
            return results.form_errors(submitted)
        if not submitted.adds and not submitted.has_changed():
            return results.nothing_to_change()
    check()
    entries = _post_and_sign(context, submitted.access, type(submitted.form.instance))
    if submitted.obj is not None:
        _check_written(submitted.obj)
        return submitted.obj
    added = next((entry.object_id for entry in entries if entry.is_addition()), None)
    if added is None:
        raise ToolFailed(_("The page did not report what it added."))
    return type(submitted.form.instance)._base_manager.get(pk=added)  # type: ignore[no-any-return]


def _check_written(obj: Model) -> None:
    """Raise ToolFailed if the recorder of this call, if any, has not seen the row."""
    current = recorder.current_recorder()
    model = concrete(type(obj))
    if current and not current.knows(model, router.db_for_write(model), obj.pk):
        raise page_closed()


def delete_as_admin(
    context: RunContext, access: AdminAccess, objects: Sequence[Model]
) -> None:
    """Delete objects as the admin does: one by its page, several by its list."""
    record_rows_before((), objects)
    pages = [access.at_object(obj.pk, "delete") for obj in objects]
    if any(page.is_custom_page() for page in pages):
        for obj, page in zip(objects, pages, strict=True):
            _post_and_sign(context, with_post(page, _confirmed()), type(obj))
        return
    if _are_deleted_by_list(access, objects):
        form = {"action": DELETE_SELECTED, "post": "yes"}
        listed = posting_list(access, form, objects)
        through_site(listed.request, lambda: _delete_listed(context, listed, objects))
        return
    for obj, page in zip(objects, pages, strict=True):
        _delete_by_page(context, with_post(page, _confirmed()), obj)


def _confirmed() -> QueryDict:
    """Return what the page of a deletion posts."""
    data = QueryDict(mutable=True)
    data["post"] = "yes"
    return data


def _delete_by_page(context: RunContext, page: AdminAccess, obj: Model) -> None:
    def delete() -> None:
        _log_deletions(context, page, [obj])
        page.model_admin.delete_model(page.request, obj)

    through_site(page.request, delete)


def _delete_listed(
    context: RunContext, access: AdminAccess, objects: Sequence[Model]
) -> None:
    model_admin, request = access.model_admin, access.request
    _log_deletions(context, access, objects)
    queryset = model_admin.get_queryset(request)
    model_admin.delete_queryset(
        request, queryset.filter(pk__in=[obj.pk for obj in objects])
    )


def _log_deletions(
    context: RunContext, access: AdminAccess, objects: Sequence[Model]
) -> None:
    _sign(context, access.model_admin.log_deletions(access.request, objects), objects)


def _are_deleted_by_list(access: AdminAccess, objects: Sequence[Model]) -> bool:
    """Return whether a person would select them in the list, and not open each."""
    if len(objects) == 1:
        return False
    has_action = DELETE_SELECTED in access.model_admin.get_actions(access.request)
    return has_action and _are_listed(access, [obj.pk for obj in objects])


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
    last = _last_entry()
    page = PagePost(access)
    page.send(lambda _form, _formsets: True)
    page.check_redirected()
    return _sign_entries(context, model, last)


@contextmanager
def _signing(context: RunContext, submitted: FormSubmission) -> Iterator[None]:
    """Sign what a custom page writes into the log by itself."""
    if not submitted.access.is_custom_page():
        yield
        return
    last = _last_entry()
    yield
    _sign_entries(context, type(submitted.form.instance), last)


def _last_entry() -> int:
    return LogEntry.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _sign_entries(context: RunContext, model: type[Model], last: int) -> list[LogEntry]:
    """Sign the entries on objects of `model` after the `last` one, and return them."""
    entries = list(_user_entries(context, model).filter(pk__gt=last))
    run = _short_run_id(context)
    _sign(context, [one for one in entries if run not in one.change_message], ())
    return entries


def _log_signed(
    context: RunContext, model_admin: Any, log: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the method `log` of a ModelAdmin, whose entries are signed."""
    admin_class = type(model_admin)
    methods = (admin_class.log_addition, admin_class.log_change)
    is_django = methods == (ModelAdmin.log_addition, ModelAdmin.log_change)

    def signed(request: HttpRequest, obj: Model, message: Any) -> Any:
        if is_django:
            text = message if isinstance(message, str) else json.dumps(message)
            entry = LogEntry(change_message=text)
            return log(request, obj, _signed(context, entry))
        logged = log(request, obj, message)
        _sign(context, logged, [obj])
        return logged

    return signed


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
