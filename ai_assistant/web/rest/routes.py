"""
The addresses of the API, below its own prefix.

The URLconf is imported by the first request to it: a site that never serves the API
does not load Django REST framework.
"""

from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, URLResolver, path, re_path, reverse
from django.urls.resolvers import RoutePattern
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.web.cors import allow, preflight
from ai_assistant.web.problems import problem_response


# Its views authenticate by themselves; the engine opens its own transactions.
@csrf_exempt
@login_not_required
@transaction.non_atomic_requests
def api_view(request: HttpRequest, below: str = "") -> HttpResponseBase:
    """Answer by the URLconf of the API; an unknown URL is a problem too."""
    preflight_response = preflight(request)
    if preflight_response is not None:
        return preflight_response
    try:
        match = resolver().resolve(below)
    except Resolver404:
        sentence = _("Unknown URL. The schema of the API lists all of them.")
        response: HttpResponseBase = problem_response(Refused("not_found", sentence))
    else:
        response = match.func(request, *match.args, **match.kwargs)
    allow(request, response)
    return response


def resolver() -> URLResolver:
    """Return the resolver of the URLconf that `REST_URLCONF` names."""
    return _resolver(conf.get("REST_URLCONF"))


@cache
def _resolver(urlconf: str) -> URLResolver:
    return URLResolver(RoutePattern("", is_endpoint=False), urlconf)


def api_reverse(name: str, *args: Any) -> str:
    """Return the address of a view of the API, as `reverse` does."""
    return f"{reverse('ai_assistant:api')}{resolver().reverse(name, *args)}"


urlpatterns = [
    path("", api_view, name="api"),
    # Anything, with line breaks too: what is no address is not the site's own page.
    re_path(r"^(?P<below>[\s\S]+)$", api_view, name="api-below"),
]
