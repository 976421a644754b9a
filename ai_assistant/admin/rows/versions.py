"""The versions of a row: who changed what, what differs, and a way back."""

import json
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import unquote
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import CharField, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.admin.base import ManagedAdmin
from ai_assistant.configuration.transfer.kinds import (
    Kind,
    differing,
    kind_of,
    set_values,
    values_of,
)
from ai_assistant.text.word_diff import diff_words, mark_pieces

VALUES = "values"  # the key of the values in the message of an entry
SHOWN = 50  # versions


def with_values(message: Any, values: Any) -> Any:
    """Return the message of an entry with what the row was from then on."""
    # Django's own reader of messages passes over keys that it does not know.
    return [*message, {VALUES: values}] if isinstance(message, list) else message


def drawn_fields(fields: list[tuple[str, Any, Any]]) -> list[tuple[str, SafeString]]:
    """Return the label of each field with its difference, word by word."""
    return [
        (label, mark_pieces(diff_words(_text(before), _text(after)), strict=False))
        for label, before, after in fields
    ]


class VersionedAdmin(ManagedAdmin):
    """
    Rows whose versions are kept in the admin's own history.

    Of rows that are in no file of configuration, no values are kept either.
    """

    object_history_template = "ai_assistant/admin/versions.html"

    @property
    def in_file(self) -> Kind | None:
        """How a row is written down; None: it has no versions."""
        return kind_of(self.model)

    def get_urls(self) -> list[Any]:
        """Add the address that brings a version back."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_restore"
        view = self.admin_site.admin_view(self.restore_view)
        own = path("<path:object_id>/history/<int:entry_id>/restore/", view, name=name)
        return [own, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add who has changed each row last, and when."""
        content_type = ContentType.objects.get_for_model(self.model)
        entries = LogEntry.objects.filter(
            content_type=content_type, object_id=OuterRef("key_text")
        ).order_by("-action_time", "-pk")
        rows: Any = super().get_queryset(request)
        name = f"user__{get_user_model().USERNAME_FIELD}"
        found: QuerySet[Any] = rows.annotate(
            key_text=Cast("pk", CharField()),
            changed_by=Subquery(entries.values(name)[:1]),
            changed_at=Subquery(entries.values("action_time")[:1]),
        )
        return found

    @admin.display(description=gettext_lazy("changed"), ordering="changed_at")
    def changed(self, row: Any) -> str:
        """Return who has changed the row last, and when; or from which file it came."""
        if row.imported_from:
            return _("from %(file)s") % {"file": row.imported_from}
        if row.changed_at is None:
            return ""
        at = row.changed_at
        day = date_format(localtime(at) if is_aware(at) else at, "SHORT_DATE_FORMAT")
        return f"{row.changed_by}, {day}"

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Keep the values with the entry."""
        return super().log_addition(request, obj, self._kept(obj, message))

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Keep the values with the entry."""
        return super().log_change(request, obj, self._kept(obj, message))

    def save_model(
        self,
        request: HttpRequest,
        obj: Any,
        form: Any,
        change: Any,
    ) -> None:
        """Note that the row is no more as a file has it."""
        if form.changed_data:
            obj.imported_from = ""
        super().save_model(request, obj, form, change)

    def history_view(
        self,
        request: HttpRequest,
        object_id: str,
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Add to each entry what it changed, and a way back to it."""
        context = {"versions": self._versions(request, unquote(object_id))}
        return super().history_view(request, object_id, context | (extra_context or {}))

    def restore_view(
        self, request: HttpRequest, object_id: str, entry_id: int
    ) -> HttpResponse:
        """Make a row again as it was at an entry."""
        row = self.get_object(request, unquote(object_id))
        if request.method != "POST" or row is None or self.in_file is None:
            raise Http404
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        entry = self._entries(object_id).filter(pk=entry_id).first()
        values = None if entry is None else _values(entry)
        if values is None:
            raise Http404
        history = f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}"
        try:
            with transaction.atomic():
                self._restore(request, row, values)
        except ValidationError as error:
            for sentence in _sentences(error):
                messages.error(request, sentence)
        else:
            messages.success(request, _("The row is again as it was then."))
        return HttpResponseRedirect(reverse(f"{history}_history", args=[object_id]))

    def _restore(self, request: HttpRequest, row: Any, values: dict[str, Any]) -> None:
        """Save a version by the form of the page: it may refuse what the model does not."""
        form_class = self.get_form(request, row, change=True)
        then = self.get_object(request, str(row.pk))
        many = set_values(self.in_file, then, values) if self.in_file else {}
        data = {field.html_name: field.value() for field in form_class(instance=then)}
        data |= {name: [one.pk for one in others] for name, others in many.items()}
        form: Any = form_class(data, instance=row)
        if not form.is_valid():
            raise ValidationError(dict(form.errors.as_data()))
        self.save_model(request, self.save_form(request, form, change=True), form, True)  # noqa: FBT003
        form.save_m2m()
        self.log_change(
            request, row, self.construct_change_message(request, form, [], add=False)
        )

    def _kept(self, obj: Any, message: Any) -> Any:
        if self.in_file is None or not self.is_audited(obj):
            return message
        return with_values(message, values_of(self.in_file, obj))

    def _versions(self, request: HttpRequest, object_id: str) -> list[dict[str, Any]]:
        """Return the entries of a row, the newest first, each with its difference."""
        row = self.get_object(request, object_id)
        if self.in_file is None or row is None:
            return []
        may_restore = self.has_change_permission(request, row)
        now = values_of(self.in_file, row)
        entries = list(self._entries(object_id).select_related("user")[: SHOWN + 1])
        name = f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}"
        found: list[dict[str, Any]] = []
        before: dict[str, Any] = {}
        for entry in reversed(entries):
            values = _values(entry)
            fields = [] if values is None else differing(self.in_file, before, values)
            address = [object_id, entry.pk]
            may = may_restore and values is not None and values != now
            found.append(
                {
                    "entry": entry,
                    "fields": drawn_fields(fields),
                    "restore": reverse(f"{name}_restore", args=address) if may else "",
                }
            )
            before = before if values is None else values
        # The last one is there for the difference of the one before alone.
        return found[::-1][:SHOWN]

    def _entries(self, object_id: str) -> QuerySet[LogEntry]:
        content_type = ContentType.objects.get_for_model(self.model)
        entries = LogEntry.objects.filter(
            content_type=content_type, object_id=unquote(object_id)
        )
        return entries.order_by("-action_time", "-pk")


def _values(entry: LogEntry) -> dict[str, Any] | None:
    """Return what the row was from an entry on; None of one that does not say it."""
    try:
        message = json.loads(entry.change_message or "null")
    except ValueError:
        return None
    for part in message if isinstance(message, list) else []:
        if isinstance(part, dict) and isinstance(part.get(VALUES), dict):
            return dict(part[VALUES])
    return None


def _sentences(error: ValidationError) -> list[str]:
    return [
        message if name == NON_FIELD_ERRORS else f"{name}: {message}"
        for name, messages_of in error.message_dict.items()
        for message in messages_of
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
