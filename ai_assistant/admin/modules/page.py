"""Modules in the admin: those of apps, limited and extended, and those made here."""

from functools import partial
from typing import Any, ClassVar

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, path, reverse
from django.utils.translation import gettext_lazy

from ai_assistant.admin.modules.form import OFFERED, PREFIX, READ_ONLY, ModuleRowForm
from ai_assistant.admin.modules.tables import (
    module_entries,
    operations_entry,
    related_entries,
    selected_entry,
    tool_entries,
)
from ai_assistant.admin.registered import registered_view
from ai_assistant.admin.rows.versions import VersionedAdmin
from ai_assistant.configuration.problems.modules import selected_pages
from ai_assistant.models.configuration import NAME_CHARS
from ai_assistant.models.module import Module
from ai_assistant.modules.base import LIMITS


@admin.register(Module)
class ModuleAdmin(VersionedAdmin):
    """The modules: which pages they are for, and what is told and done there."""

    form = ModuleRowForm
    list_display = ("name", "label", "group", "priority", "is_active")
    list_filter = ("is_active", "group")
    list_select_related = ("group",)
    search_fields = ("name", "label", "pages", "text", "tools")
    when_empty = gettext_lazy(
        "Nothing was set up here yet: each module is as its app has it."
    )
    ordering = ("name",)
    change_form_template = "ai_assistant/admin/module.html"
    change_list_template = "ai_assistant/admin/module_list.html"
    fieldsets: ClassVar = (
        (None, {"fields": ("name", "label", "group", "priority", "is_active")}),
        (gettext_lazy("Pages"), {"fields": ("pages",)}),
        (
            gettext_lazy("What it knows and may do"),
            {"fields": ("text", "tools", "data_models", "actions", "api_operations")},
        ),
        (gettext_lazy("Who answers"), {"fields": ("agent", "profile")}),
        (gettext_lazy("What is not changed"), {"fields": READ_ONLY}),
        (
            gettext_lazy("Limits of one answer"),
            {
                "fields": LIMITS,
                "description": gettext_lazy(
                    "They tighten what the site, the agent and the code of the module "
                    "allow, and loosen nothing."
                ),
            },
        ),
        (
            gettext_lazy("Features"),
            {
                "fields": tuple(f"{PREFIX}{name}" for name in OFFERED),
                "classes": ("collapse",),
            },
        ),
    )

    class Media:
        js = ("ai_assistant/admin/module_form.js",)

    def get_urls(self) -> list[Any]:
        """Add what tries out the pages of a module, and what is registered."""
        return [
            path(
                "pages/",
                self.admin_site.admin_view(self.pages_view),
                name="ai_assistant_module_pages",
            ),
            path(
                "operations/",
                self.admin_site.admin_view(self.operations_view),
                name="ai_assistant_module_operations",
            ),
            path(
                "registered/",
                self.admin_site.admin_view(partial(registered_view, self)),
                name="ai_assistant_module_registered",
            ),
            *super().get_urls(),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the id: runs, rules and other rows name it."""
        return ("name",) if obj is not None else ()

    def get_form(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        """Return the form with who edits it."""
        form: Any = super().get_form(request, *args, **options)
        form.maker = request.user
        return form

    # --- what the pages show besides ---

    def changelist_view(
        self, request: HttpRequest, extra_context: Any = None
    ) -> HttpResponse:
        """Show all modules above the rows."""
        more = {"modules": module_entries() if self._may_see(request) else []}
        return super().changelist_view(request, {**(extra_context or {}), **more})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        """Add its pages, the tools there with what is decided, and what belongs to it."""
        row = options.get("obj") or Module(
            name=request.GET.get("name", "")[:NAME_CHARS]
        )
        context["selected"] = selected_entry(selected_pages(row))
        context["tries_at"] = self._url("pages")
        context["operations"] = operations_entry(row)
        context["operations_at"] = self._url("operations")
        if row.name:
            context["tools"] = tool_entries(row)
            context["related"] = [
                {**one, **self._urls(request, one["model"])}
                for one in related_entries(row.name)
            ]
        return super().render_change_form(request, context, *args, **options)

    def pages_view(self, request: HttpRequest) -> HttpResponse:
        """Return which pages a module would be for, as a part of a page."""
        if not self._may_see(request):
            raise PermissionDenied
        row = Module(
            name=request.GET.get("name", "")[:NAME_CHARS] or "-",
            pages=request.GET.get("pages", "")[:4000],
            priority=_number(request.GET.get("priority", "")),
        )
        context = {"selected": selected_entry(selected_pages(row))}
        return TemplateResponse(
            request, "ai_assistant/admin/module_pages.html", context
        )

    def operations_view(self, request: HttpRequest) -> HttpResponse:
        """Return which API operations a module would have, as a part of a page."""
        if not self._may_see(request):
            raise PermissionDenied
        row = Module(
            name=request.GET.get("name", "")[:NAME_CHARS] or "-",
            api_operations="\n".join(request.GET.getlist("chosen"))[:8000],
        )
        context = {"operations": operations_entry(row)}
        return TemplateResponse(
            request, "ai_assistant/admin/module_operations.html", context
        )

    def _may_see(self, request: HttpRequest) -> bool:
        return self.has_view_or_change_permission(request) or self.has_add_permission(
            request
        )

    def _urls(self, request: HttpRequest, model: Any) -> dict[str, str]:
        """Return the addresses of another table's pages that the user may open."""
        other = self.admin_site._registry.get(model)
        if other is None or not other.has_view_or_change_permission(request):
            return {}
        name = (
            f"{self.admin_site.name}:{model._meta.app_label}_{model._meta.model_name}"
        )
        may_add = other.has_add_permission(request)
        return {
            "list": reverse(f"{name}_changelist"),
            "add": reverse(f"{name}_add") if may_add else "",
        }

    def _url(self, name: str) -> str:
        try:
            return reverse(f"{self.admin_site.name}:ai_assistant_module_{name}")
        except NoReverseMatch:
            return ""


def _number(text: str) -> int:
    try:
        return int(text[:6])
    except ValueError:
        return 0
