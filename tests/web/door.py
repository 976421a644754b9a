"""
A door for programs, as those of AG-UI and REST: who calls is asked, then it is done.

`ROOT_URLCONF = "tests.web.door"` adds it to the site's own addresses.
"""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt

from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import Submission
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.exceptions import Refused
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.web.cors import allow, preflight
from ai_assistant.web.principal import Caller, identify
from ai_assistant.web.problems import problem_response


@csrf_exempt
def door(request: HttpRequest, does: str) -> HttpResponse:
    asked = preflight(request)
    if asked is not None:
        return asked
    try:
        response = _done(request, does)
    except Refused as refused:
        response = problem_response(refused)
    allow(request, response)
    return response


def _done(request: HttpRequest, does: str) -> HttpResponse:
    scope, work = DOES[does]
    caller = identify(request, scope)
    work(request, caller)
    told = {"user": str(request.user), "scopes": caller.scopes}
    response = JsonResponse(told)
    response["Retry-After"] = "1"
    return response


def look(_request: HttpRequest, _caller: Caller) -> None:
    """Only say who calls."""


def say(request: HttpRequest, caller: Caller) -> None:
    submission = Submission(
        user_id=caller.user.pk,
        conversation_id=uuid.UUID(request.POST["conversation"]),
        key=uuid.uuid4().hex,
        text=request.POST["text"],
        stamp=caller.stamp,
    )
    accept(submission)


def decide(request: HttpRequest, caller: Caller) -> None:
    interrupt = Interrupt.objects.get(pk=request.POST["interrupt"])
    given = Answer(
        user_id=caller.user.pk,
        interrupt_id=interrupt.pk,
        nonce=interrupt.nonce,
        decision=request.POST["decision"],
        text=request.POST.get("answer", ""),
        stamp=caller.stamp,
    )
    answer(given)


DOES = {
    "look": ("read", look),
    "run": ("run", look),
    "say": ("run", say),
    "answer": ("approve", decide),
}
urlpatterns = [path("door/<does>/", door), path("", include("project.urls"))]
