"""The configuration as one file, for superusers: saved, compared and applied."""

from pathlib import PurePath
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ai_assistant import conf
from ai_assistant.admin.base import AssistantAdmin
from ai_assistant.admin.rows.versions import drawn_fields, with_values
from ai_assistant.configuration.transfer.applied import (
    ADDED,
    CHANGED,
    REMOVED,
    Applied,
    RowDifference,
    apply,
)
from ai_assistant.configuration.transfer.document import WrongFile, read, written
from ai_assistant.models.configuration import ConfigurationFile

FORMATS = {"yaml": "application/yaml", "json": "application/json"}
FLAGS = {ADDED: ADDITION, CHANGED: CHANGE, REMOVED: DELETION}
MOST_BYTES = 2_000_000  # Django takes 2.5 MB of a form, and the file is sent twice


class FileForm(forms.Form):
    """The file that is to be compared with the rows of the site."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("YAML, or JSON if its name ends in .json."),
    )
    removes = forms.BooleanField(
        label=gettext_lazy("Delete rows that the file does not have"), required=False
    )

    def clean_file(self) -> tuple[str, str]:
        """Return the name and the text of the file."""
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            sentence = _(
                "The file is too large for this page. Use “manage.py assistant_config "
                "import”."
            )
            raise forms.ValidationError(sentence)
        try:
            return PurePath(file.name).name, file.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise forms.ValidationError(
                _("The file is not UTF-8. Save it as UTF-8.")
            ) from error


@admin.register(ConfigurationFile)
class ConfigurationFileAdmin(AssistantAdmin):
    """Import and export, for superusers alone: a file may say what anybody may do."""

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow superusers, while the assistant is on."""
        return conf.enabled() and bool(request.user.is_superuser)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow none: there is nothing to add."""
        return False

    def get_urls(self) -> list[Any]:
        """Return the addresses of the page and of the files."""
        view, name = self.admin_site.admin_view, "ai_assistant_configurationfile"
        return [
            path("", view(self.changelist_view), name=f"{name}_changelist"),
            path("save/<slug:format>/", view(self.save_view), name=f"{name}_save"),
        ]

    def save_view(self, request: HttpRequest, format: str) -> HttpResponse:
        """Return the configuration as a file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if format not in FORMATS:
            raise Http404
        text = written(as_json=format == "json")
        response = HttpResponse(text, content_type=f"{FORMATS[format]}; charset=utf-8")
        file = f"assistant-config.{format}"
        response["Content-Disposition"] = f'attachment; filename="{file}"'
        return response

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Offer both; show what a file would change, and apply what was shown."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._page(request, form=FileForm())
        if "text" in request.POST:
            return self._applied(request)
        form = FileForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._page(request, form=form)
        name, text = form.cleaned_data["file"]
        removes = form.cleaned_data["removes"]
        return self._shown(request, name=name, text=text, removes=removes)

    def _shown(
        self, request: HttpRequest, *, name: str, text: str, removes: bool
    ) -> HttpResponse:
        try:
            document = read(text, name)
        except WrongFile as error:
            return self._page(request, form=FileForm(), problems=[str(error)])
        done = apply(
            document, name=name, user=request.user, removes=removes, is_trial=True
        )
        given = {"name": name, "text": text, "removes": removes}
        return self._page(request, form=FileForm(), done=done, given=given)

    def _applied(self, request: HttpRequest) -> HttpResponse:
        """Apply what was shown, unless something else would be changed by now."""
        name, text = (str(request.POST.get(field, "")) for field in ("name", "text"))
        removes = bool(request.POST.get("removes"))
        try:
            document = read(text, name)
        except WrongFile as error:
            return self._page(request, form=FileForm(), problems=[str(error)])
        shown = str(request.POST.get("shown")) or "none"
        with transaction.atomic():
            done = apply(
                document, name=name, user=request.user, removes=removes, shown=shown
            )
            if not done.problems:
                for one in done.rows:
                    _log(one, request.user)
        if done.problems:
            return self._page(request, form=FileForm(), problems=done.problems)
        count = len(done.rows)
        sentence = ngettext("%(n)s row was changed.", "%(n)s rows were changed.", count)
        messages.success(request, sentence % {"n": count})
        return HttpResponseRedirect(self._url())

    def _page(
        self,
        request: HttpRequest,
        *,
        form: FileForm,
        done: Applied | None = None,
        given: dict[str, Any] | None = None,
        problems: list[str] | None = None,
    ) -> HttpResponse:
        name = f"{self.admin_site.name}:ai_assistant_configurationfile_save"
        context = {
            **self.admin_site.each_context(request),
            "title": capfirst(self.opts.verbose_name_plural),
            "opts": self.opts,
            "form": form,
            "given": given,
            "done": done,
            "rows": [_drawn(one) for one in done.rows] if done else [],
            "problems": done.problems if done else problems or [],
            "files": [
                {"format": one.upper(), "url": reverse(name, args=[one])}
                for one in FORMATS
            ],
        }
        return TemplateResponse(request, "ai_assistant/admin/transfer.html", context)

    def _url(self) -> str:
        return reverse(
            f"{self.admin_site.name}:ai_assistant_configurationfile_changelist"
        )


def _drawn(one: RowDifference) -> dict[str, Any]:
    """Return what the page shows of a row."""
    statuses = {ADDED: _("added"), CHANGED: _("changed"), REMOVED: _("deleted")}
    return {
        "kind": capfirst(one.kind.model._meta.verbose_name),
        "name": one.name,
        "status": statuses[one.status],
        "fields": drawn_fields(one.fields()),
    }


def _log(one: RowDifference, user: Any) -> None:
    """Write what has happened to a row into the history of the admin."""
    labels = [label for label, *_values in one.fields()]
    messages_of = {ADDED: [{"added": {}}], CHANGED: [{"changed": {"fields": labels}}]}
    message = messages_of.get(one.status, "")
    LogEntry.objects.log_actions(
        user_id=user.pk,
        queryset=[one.row],
        action_flag=FLAGS[one.status],
        change_message=with_values(message, dict(one.after)),
        single_object=True,
    )
