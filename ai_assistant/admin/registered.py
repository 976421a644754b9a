"""What is registered on the site, and which of it applies on a page."""

from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.admin.prompts import LookForm
from ai_assistant.configuration.begun import ROW
from ai_assistant.configuration.problems.operations import operations_of_site
from ai_assistant.configuration.registered import RegisteredPart, registered_parts
from ai_assistant.engine.service import PartsHere, parts_here
from ai_assistant.safety.identity.permissions import may_view_prompts
from ai_assistant.tools.api.catalogue import why_left_out

VERSION_CHARS = 12  # of a hash
LABELS = {
    "context": gettext_lazy("context providers"),
    "tools": gettext_lazy("tools"),
    "commands": gettext_lazy("prompt commands"),
    "skills": gettext_lazy("skills"),
    "hooks": gettext_lazy("hooks"),
    "modules": gettext_lazy("modules"),
    "suggestions": gettext_lazy("suggestions"),
    "instructions": gettext_lazy("instructions"),
    "agents": gettext_lazy("agents"),
    "operations": gettext_lazy("API operations"),
}
WHY_NOT: dict[str, Any] = {
    "never": gettext_lazy(
        "Never: it signs in or out, or belongs to the assistant itself."
    ),
    "unknown": gettext_lazy("Nobody has said what it does."),
    "taken_out": gettext_lazy("Left out by a pattern with “!”."),
    "by_name": gettext_lazy("Only by its full name: %(reason)s."),
    "not_named": gettext_lazy("No pattern names it."),
    "": gettext_lazy("Another one has this name."),
}


class HereForm(LookForm):
    """For whom and on which page; others than oneself with the permission for prompts."""

    text = None  # type: ignore[assignment]
    viewer: Any = None

    def clean_user(self) -> Any:
        """Return the user: oneself, or another one for who may see what they are told."""
        is_own = self.cleaned_data["user"] == self.viewer.get_username()
        # Said before anybody is looked for: it tells no names of users.
        if not is_own and not may_view_prompts(self.viewer):
            raise forms.ValidationError(
                _("For others you need the permission “%(permission)s”.")
                % {"permission": "ai_assistant.view_prompts"}
            )
        return super().clean_user()


def registered_view(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Show all that is registered, and on a page which of it applies."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    user: Any = request.user
    asked = request.GET if "path" in request.GET else None
    form = HereForm(asked, initial={"user": user.get_username(), "path": ""})
    form.viewer = user
    here = None
    if form.is_bound and form.is_valid():
        here = parts_here(form.cleaned_data["user"], form.cleaned_data["path"])
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": _("What is registered"),
        "form": form,
        "here": here,
        "kinds": [
            _kind(kind, parts, here, shows_source=user.is_superuser)
            for kind, parts in registered_parts().items()
        ],
        "setting": conf.typed("API_OPERATIONS"),
    }
    return TemplateResponse(request, "ai_assistant/admin/registered.html", context)


def _kind(
    kind: str,
    parts: list[RegisteredPart],
    here: PartsHere | None,
    *,
    shows_source: bool,
) -> dict[str, Any]:
    own = here.names[kind] if here is not None else frozenset()
    shown = [
        part for part in parts if here is None or (part.is_on and part.name in own)
    ]
    entries = [_entry(part, shows_source=shows_source) for part in shown]
    if kind == "operations":
        packages = operations_of_site().packages
        entries = [
            {**entry, **_operation(part), "package": packages.get(part.name, "")}
            for part, entry in zip(shown, entries, strict=True)
        ]
    return {
        "name": kind,
        "label": capfirst(str(LABELS[kind])),
        "count": len(parts),
        "on": sum(part.is_on for part in parts),
        "parts": entries,
    }


def _operation(part: RegisteredPart) -> dict[str, Any]:
    """Return what the page tells of an operation besides."""
    operation = part.part
    why = ""
    if not part.is_on:
        reason = why_left_out(operation, conf.get("API_OPERATIONS"))
        named = {"reason": _(operation.only_by_name) if reason == "by_name" else ""}
        why = str(WHY_NOT[reason]) % named
    return {
        "request": f"{operation.method} {operation.path}",
        "is_declared": operation.is_declared,
        "is_on": part.is_on,
        "why": why,
    }


def _entry(part: RegisteredPart, *, shows_source: bool) -> dict[str, Any]:
    is_row = part.origin == ROW
    source = _("made here") if is_row else part.source if shows_source else ""
    return {
        "name": part.name,
        "about": part.about,
        "where": part.where,
        "source": source,
        "effect": getattr(part.part, "effect", ""),
        "schema": dict(part.schema),
        "version": part.version[:VERSION_CHARS],
    }
