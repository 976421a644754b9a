"""What is said where no model can answer: a notice in the panel, and a page about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.engine.storage.units import in_db
from ai_assistant.providers.base import provider_path
from ai_assistant.providers.readiness import missing_of
from ai_assistant.web.panel.access import own_page, panel_view


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelNotice:
    """Why no message would be answered; `url` leads a superuser to what is missing."""

    text: str
    url: str = ""


def model_notice(user: Any, profile: str = DEFAULT) -> ModelNotice | None:
    """Return what to say before the first question, if `profile` cannot answer."""
    missing = missing_of(profile)
    if not missing:
        return None
    if not getattr(user, "is_superuser", False):
        sentence = _(
            "The assistant cannot answer yet: an administrator has to set up its model."
        )
        return ModelNotice(text=sentence)
    said = _("No model can answer: %(name)s is missing.") % {"name": missing}
    return ModelNotice(text=said, url=reverse("ai_assistant:model"))


@require_GET
@panel_view(use=False)
async def model_view(request: HttpRequest) -> HttpResponse:
    """Show a superuser what each model profile has, and what it lacks."""
    return await in_db(_draw, request)


def _draw(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    context = {
        "rows": list(_rows()),
        "command": "python manage.py assistant_doctor --try",
    }
    return own_page(request, "ai_assistant/model_page.html", context)


def _rows() -> Iterator[dict[str, str]]:
    for name, own in conf.get("PROFILES").items():
        profile = conf.profile(name)
        yield {
            "name": name,
            "model": str(profile.get("MODEL") or ""),
            "provider": provider_path(profile),
            "variable": str(own.get("API_KEY_ENV") or ""),
            "missing": missing_of(name),
        }
