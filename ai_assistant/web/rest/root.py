from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.permissions import may_use
from ai_assistant.web.cors import allow
from ai_assistant.web.problems import problem_response
from ai_assistant.web.rest.base import ApiView, answered, caller_of
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes.root import RootShape

LISTS = (
    *("conversations", "runs", "interrupts", "calls", "changes", "usage"),
    *("usage-sums", "registry", "schema"),
)


class RootView(ApiView):
    """Where everything is."""

    @operation(
        "root_read", "Read where everything is", query=Query, answers={200: RootShape}
    )
    def get(self, request: Request) -> Response:
        """Return the addresses, and what the caller may do."""
        read_query(request, Query)
        caller = caller_of(request)
        every = AccessToken.Scope.values
        scopes = [
            one
            for one in every
            if caller.has_scope(one)
            and (one == AccessToken.Scope.READ or may_use(caller.user))
        ]
        return answered(
            RootShape(
                user=caller.user.get_username(),
                scopes=scopes,
                addresses={
                    name: request.build_absolute_uri(
                        reverse(f"ai_assistant:api-{name}")
                    )
                    for name in LISTS
                },
            )
        )


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    """Answer for an address that is none, as the API answers everything."""
    sentence = _("There is no such address. The document of the API lists all.")
    response = problem_response(Refused("not_found", sentence))
    allow(request, response)
    return response
