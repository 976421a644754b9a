"""What the assistant remembers: everybody's own, and what is for groups and everyone."""

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import F, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.admin.rows.versions import VersionedAdmin
from ai_assistant.models.configuration import Memory
from ai_assistant.safety.identity.permissions import may_use


class MemoryForm(forms.ModelForm):  # type: ignore[type-arg] # its checker's
    """A memory, and for whom it is, if the person may choose that."""

    for_everyone = forms.BooleanField(
        label=gettext_lazy("For everyone"),
        required=False,
        help_text=gettext_lazy(
            "Otherwise it is for the group, and without one for you."
        ),
    )

    class Meta:
        model = Memory
        fields = ("text", "is_active", "group")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        row = self.instance
        if row.pk and "for_everyone" in self.fields:
            self.fields["for_everyone"].initial = not (row.owner_id or row.group_id)

    def clean_text(self) -> str:
        """Keep it on one line."""
        return " ".join(self.cleaned_data["text"].split())


@admin.register(Memory)
class MemoryAdmin(VersionedAdmin):
    """A person's own memories; with the permissions of the table also shared ones."""

    form = MemoryForm
    list_display = ("text", "audience", "words", "is_active", "created_at")
    search_fields = ("text",)
    when_empty = gettext_lazy(
        "Nothing is remembered yet. What stands here is in the prompt of whom it "
        "is for."
    )
    list_select_related = ("group",)
    actions = ("switch_off", "switch_on", "export")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out what is another person's own."""
        own = Q(owner=request.user.pk)
        if super().has_view_permission(request):
            own |= Q(owner=None)
        rows = super().get_queryset(request).filter(own)
        found: QuerySet[Any] = rows.annotate(shown=F("text"))
        return found

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the audience too, for who may choose it."""
        may_share = super().has_add_permission(request)
        shared = ("group", "for_everyone") if may_share else ()
        return ["text", "is_active", *shared]

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Leave it out of the index for all whose own alone it is."""
        return super().has_view_permission(request)

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow everybody their own."""
        return self._may(request, obj) or super().has_view_permission(request, obj)

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow everybody their own."""
        return self._may(request, obj) or super().has_change_permission(request, obj)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow everybody their own."""
        return self._may(request, obj) or super().has_delete_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow everybody their own."""
        return self._may(request, None)

    def save_model(
        self,
        request: HttpRequest,
        obj: Any,
        form: Any,
        change: bool,  # noqa: FBT001 - Django's own
    ) -> None:
        """Keep whose it is, and that these are the words of who has written them."""
        if "text" in form.changed_data or not change:
            obj.author, obj.words = request.user, Memory.Words.USER
        # A field that is not drawn is taken all the same if it is sent.
        may_share = super().has_add_permission(request)
        if may_share or not change:
            is_shared = obj.group_id or form.cleaned_data.get("for_everyone")
            obj.owner = None if may_share and is_shared else request.user
        super().save_model(request, obj, form, change)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Keep the words of one's own out of Django's log, too."""
        return super().log_addition(request, _unnamed(obj), message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Keep them out here as well."""
        return super().log_change(request, _unnamed(obj), message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep them out here as well."""
        return super().log_deletions(request, [_unnamed(row) for row in queryset])

    def is_audited(self, obj: Any) -> bool:
        """Leave the words of one's own out: they are nobody else's."""
        return obj.owner_id is None

    @admin.display(description=gettext_lazy("for"))
    def audience(self, row: Memory) -> str:
        """Return for whom a memory is."""
        if row.owner_id:
            return _("you")
        return row.group.name if row.group else _("everyone")

    @admin.action(
        description=gettext_lazy("Switch off"),
        permissions=["change"],
    )
    def switch_off(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        """Take the chosen memories out of all prompts."""
        self._switch(request, rows, is_active=False)

    @admin.action(description=gettext_lazy("Switch on"), permissions=["change"])
    def switch_on(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        """Use the chosen memories again."""
        self._switch(request, rows, is_active=True)

    def _switch(
        self, request: HttpRequest, rows: QuerySet[Any], *, is_active: bool
    ) -> None:
        label = Memory._meta.get_field("is_active").verbose_name
        for row in rows.exclude(is_active=is_active):
            # Who may view those of all need not be who may change them.
            if not self.has_change_permission(request, row):
                continue
            row.is_active = is_active
            row.save(update_fields=["is_active"])
            self.log_change(request, row, [{"changed": {"fields": [str(label)]}}])

    @admin.action(description=gettext_lazy("Export as JSON"), permissions=["view"])
    def export(self, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse:
        """Return the chosen memories as a file."""
        found = [
            {"text": row.text, "for": self.audience(row), "created_at": row.created_at}
            for row in rows
        ]
        text = json.dumps(found, ensure_ascii=False, indent=1, default=str)
        response = HttpResponse(text, content_type="application/json")
        response["Content-Disposition"] = 'attachment; filename="memories.json"'
        return response

    def _may(self, request: HttpRequest, obj: Model | None) -> bool:
        """Return whether it is the person's own, or they look for their own."""
        is_on = conf.enabled() and bool(conf.get("MEMORY"))
        is_own = obj is None or getattr(obj, "owner_id", None) == request.user.pk
        return is_on and is_own and may_use(request.user)


def _unnamed(row: Any) -> Any:
    """Return a row that is named by its time, where it is one's own."""
    row.shown = ""
    return row
