"""How a row of configuration reads, before it is saved."""

from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.functional import Promise
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from ai_assistant.admin.rows.versions import VersionedAdmin
from ai_assistant.configuration.command_arguments import hint_of, schema_problem
from ai_assistant.configuration.commands import sent_command
from ai_assistant.configuration.setup import command_of_row
from ai_assistant.exceptions import ArgumentsMissing, Refused
from ai_assistant.models.configuration import PromptCommand
from ai_assistant.render.markdown import render
from ai_assistant.types import RunContext

NONE = UUID(int=0)  # there is no run
TRIED = "_tried"  # the field of the page in which a line is tried; no field of a row


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A part of a preview: Markdown as it reads, or a text as it is; or what is wrong."""

    label: str = ""
    html: str = ""
    text: str = ""
    problem: str = ""


class PreviewedAdmin(VersionedAdmin):
    """Rows whose long texts can be read before they are saved."""

    change_form_template = "ai_assistant/admin/previewed.html"
    markdown: ClassVar[tuple[str, ...]] = ()  # the fields that are read as Markdown
    tried: str | Promise = (
        ""  # the label of the field in which a line is tried; empty: there is none
    )

    class Media:
        js = ("ai_assistant/admin/preview.js",)

    def get_urls(self) -> list[Any]:
        """Add the address of the preview."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_preview"
        view = self.admin_site.admin_view(self.preview_view)
        return [path("preview/", view, name=name), *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Add where the preview comes from."""
        if self.markdown or self.tried:
            name = f"{self.opts.app_label}_{self.opts.model_name}_preview"
            context["preview"] = {
                "url": reverse(f"{self.admin_site.name}:{name}"),
                "tried": self.tried,
                "name": TRIED,
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def preview_view(self, request: HttpRequest) -> HttpResponse:
        """Show what is in the form, which may be wrong, as it would read."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        may = (self.has_add_permission, self.has_change_permission)
        if not any(one(request) for one in may):
            raise PermissionDenied
        form: Any = self.get_form(request, change=False)(request.POST)
        form.is_preview = True
        form.is_valid()
        shown = self.shown(form.cleaned_data, request)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Preview"),
            "opts": self.opts,
            "shown": shown,
        }
        return TemplateResponse(request, "ai_assistant/admin/preview.html", context)

    def shown(self, values: dict[str, Any], request: HttpRequest) -> list[Shown]:
        """Return what is shown of the fields that are right so far."""
        labels = {one.name: str(one.verbose_name) for one in self.opts.fields}
        return [
            # nh3 has gone over it: render.markdown returns what is safe.
            Shown(label=labels[name], html=mark_safe("".join(render(values[name]))))  # noqa: S308
            for name in self.markdown
            if values.get(name)
        ]


class TriedCommandAdmin(PreviewedAdmin):
    """Prompt commands, of which a line can be tried."""

    def shown(self, values: dict[str, Any], request: HttpRequest) -> list[Shown]:
        """Return what would be sent for the line that is tried."""
        fields = {one.name for one in self.opts.fields}
        given = {name: value for name, value in values.items() if name in fields}
        if not given.get("text"):
            return []
        row = PromptCommand(**given)
        command = command_of_row(row)
        if problem := schema_problem(command):
            return [Shown(problem=problem)]
        name = row.name or "command"
        hint = f"/{name} {hint_of(command)}".strip()
        line = request.POST.get(TRIED, "").strip()
        line = line if line.startswith("/") else f"/{name} {line}".strip()
        found = Shown(label=_("Typed as"), text=hint)
        context = RunContext(user=request.user, run_id=NONE, conversation_id=NONE)
        try:
            sent = sent_command(line, {name: command}, context, {})
        except (ArgumentsMissing, Refused) as error:
            return [found, Shown(problem=str(error))]
        if sent is None or not sent.prompt:
            return [found, Shown(problem=_("This is not the line of this command."))]
        return [found, Shown(label=_("Sent to the model"), text=sent.prompt)]
