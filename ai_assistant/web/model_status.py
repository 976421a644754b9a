"""The page on which a superuser sees why no model can answer, and tries one."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.providers.base import provider_path
from ai_assistant.providers.readiness import Trial, missing_of, try_model
from ai_assistant.web.panel.access import own_page, panel_view


@require_http_methods(["GET", "POST"])
@panel_view(use=False)
async def model_view(request: HttpRequest) -> HttpResponse:
    """
    Show a superuser what each model profile has, and what it lacks.

    A POST makes one real call of the model of `profile`, and tells what came of it.
    """
    user: Any = await request.auser()
    if not user.is_superuser:
        raise PermissionDenied
    tried: dict[str, Trial] = {}
    if request.method == "POST":
        name = request.POST.get("profile", "")
        tried[name] = await try_model(_profile(name))
    return await in_db(_draw, request, tried)


def _profile(name: str) -> dict[str, Any]:
    try:
        return conf.profile(name)
    except ImproperlyConfiguredAssistant as error:
        raise Http404(str(error)) from error


def _draw(request: HttpRequest, tried: dict[str, Trial]) -> HttpResponse:
    context = {
        "rows": list(_rows(tried)),
        "command": "python manage.py assistant_doctor --try",
    }
    return own_page(request, "ai_assistant/model_page.html", context)


def _rows(tried: dict[str, Trial]) -> Iterator[dict[str, Any]]:
    for name, own in conf.profiles().items():
        profile = conf.profile(name)
        yield {
            "name": name,
            "model": str(profile.get("MODEL") or ""),
            "provider": provider_path(profile).rpartition(".")[2],
            "variable": str(own.get("API_KEY_ENV") or ""),
            "missing": missing_of(name),
            "trial": tried.get(name),
        }
