"""The page that tells a superuser why no model can answer."""

from collections.abc import Iterator

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_db
from ai_assistant.providers.base import provider_path
from ai_assistant.providers.readiness import missing_of
from ai_assistant.web.panel.access import own_page, panel_view


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
            "provider": provider_path(profile).rpartition(".")[2],
            "variable": str(own.get("API_KEY_ENV") or ""),
            "missing": missing_of(name),
        }
