"""Base classes for the admin pages of the assistant's own tables."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.text import capfirst

from ai_assistant import conf
from ai_assistant.configuration.problems.rows import row_problems
from ai_assistant.configuration.problems.stored import field_problems
from ai_assistant.safety.audit import record, request_ip


class AssistantAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # its checker's
    """The assistant's own tables, shown while the assistant is switched on."""

    when_empty: Any = ""  # what a list without rows says of what will be in it

    class Media:
        css: ClassVar = {"all": ("ai_assistant/pages.css",)}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Name the list by what it holds: Django's own title is about choosing one."""
        own = {
            "title": capfirst(self.opts.verbose_name_plural),
            "when_empty": self.when_empty,
        }
        return super().changelist_view(request, {**own, **(extra_context or {})})

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_add_permission(request)

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_change_permission(request, obj)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_delete_permission(request, obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide the app while the assistant is off."""
        return conf.enabled() and super().has_module_permission(request)


class ReadOnlyAdmin(AssistantAdmin):
    """Read-only rows, shown while the assistant is switched on."""

    list_per_page = 50
    show_full_result_count = False
    user_field = ""  # the name of the field that holds the user

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow none: rows come from the engine."""
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow none: the rows are the truth about what happened."""
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow deletion only as part of deleting the conversation or its user."""
        return _goes_along(request, self.opts)

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Search by the user's name too, whatever the user model calls that field."""
        name = get_user_model().USERNAME_FIELD
        return [*super().get_search_fields(request), f"{self.user_field}__{name}"]


def _goes_along(request: HttpRequest, options: Any) -> bool:
    """
    Return whether the page of another model is deleting these rows too.

    Django asks the admin of each table that a cascade reaches. Otherwise no user
    who has ever used the assistant could be deleted.
    """
    match = request.resolver_match
    name = (match.url_name or "") if match else ""
    deletes = name.endswith("_delete") or (
        name.endswith("_changelist") and request.method == "POST"
    )
    is_own_page = name.startswith(f"{options.app_label}_{options.model_name}_")
    user: Any = request.user
    return (
        deletes
        and not is_own_page
        and user.has_perm("ai_assistant.delete_conversation")
    )


class ManagedAdmin(AssistantAdmin):
    """
    Rows that people keep, by the admin's own permissions, while the assistant is on.

    What is added, changed and deleted is audited, beside Django's own log.
    """

    def is_audited(self, obj: Any) -> bool:
        """Return whether the audit log holds the values of an object."""
        return True

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Record a new object, with all of its values."""
        if self.is_audited(obj):
            _record("settings.added", request, obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Record the new values, and which fields were changed."""
        if self.is_audited(obj):
            _record("settings.changed", request, obj, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Record what is about to be deleted."""
        for obj in filter(self.is_audited, queryset):
            _record("settings.deleted", request, obj)
        return super().log_deletions(request, queryset)


def _record(action: str, request: HttpRequest, obj: Model, message: Any = None) -> None:
    meta = obj._meta
    values = {
        name: value if isinstance(value, str | int | bool | None) else str(value)
        for name, value in model_to_dict(obj).items()
    }
    record(
        action,
        user=request.user,
        details={
            "object": f"{meta.label_lower}:{obj.pk}",
            "values": values,
            **({"message": message} if message else {}),
        },
        ip=request_ip(request),
    )


def _with_plain_lines(data: Any) -> Any:
    """Return what was sent with lines that end as in a file, not as browsers end them."""
    if not isinstance(data, QueryDict):
        return data
    plain = data.copy()
    for name, values in data.lists():
        plain.setlist(name, [value.replace("\r\n", "\n") for value in values])
    return plain


class RowForm(forms.ModelForm):  # type: ignore[type-arg] # its checker's
    """The form of a row of configuration; what is wrong is said at its field."""

    maker: Any = None  # who edits it
    is_preview = False  # nothing is saved, and what it shows says what is wrong

    def __init__(self, data: Any = None, *args: Any, **options: Any) -> None:
        super().__init__(_with_plain_lines(data), *args, **options)
        row = self.instance
        self.was_active = row.pk is not None and getattr(row, "is_active", False)
        if row.pk is not None and not self.is_bound:
            self._say_what_broke()

    def _say_what_broke(self) -> None:
        """Say at its field what is wrong by now, before anything is sent."""
        self.cleaned_data: dict[str, Any] = {}  # which `add_error` needs
        for name, problem in field_problems(self.instance):
            if name in self.fields:
                self.add_error(name, problem)

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc] # Django's own
        if self.is_preview:
            return
        wrong = {*self.errors}
        for name, problem in row_problems(
            self.instance, self.maker, was_active=self.was_active
        ):
            # Of a field with an error the row has its former value.
            if name not in wrong:
                self.add_error(name if name in self.fields else None, problem)
