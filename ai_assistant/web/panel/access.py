"""Who comes through the door: the same rules for every view, and one frame for pages."""

from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.db import DatabaseError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_resolver, get_urlconf, reverse
from django.utils.encoding import iri_to_uri
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.rows import refresh
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db, refusal_of
from ai_assistant.exceptions import Limited, Refused
from ai_assistant.request_context import full_path, language_of_page
from ai_assistant.safety.budgets.texts import opens_again_text
from ai_assistant.safety.identity.permissions import may_use, may_view

View = Callable[..., Coroutine[Any, Any, HttpResponse]]

OK, UNAUTHORIZED, FORBIDDEN, TOO_MANY = 200, 401, 403, 429
NO_REFERRER = "no-referrer"
FETCHED = "HX-Request"  # sent by htmx and by the panel's own scripts
FROM_PAGE = ("HX-Current-URL", "Referer")  # sent by htmx, and by all browsers
STATUS = {
    "not_found": 404,
    "already_answered": 409,
    "busy": 409,
    "locked": 409,
    "queue_full": 409,
    "sent": 409,
    "no_executor": 503,
    "disk_full": 507,
}


def panel_view(*, use: bool, hides: bool = False) -> Callable[[View], View]:
    """
    Admit only who may see the assistant, or use it.

    Signed out: 401 for a script, the sign-in page for a person. Not allowed: 403, or
    404 from a view that `hides` whether there is anything.
    A Refused becomes its sentence: as a fragment with status 200 for a script,
    on a page of its own for a person without one. A limit answers 429 to both, with
    Retry-After.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        async def admitted(request: HttpRequest, **named: str) -> HttpResponse:
            if not conf.enabled():
                raise Http404
            allowed = may_use if use else may_view
            status = await in_db(_admission, request, allowed, stage=Stage.ASK)
            if status == UNAUTHORIZED:
                return _sign_in(request)
            if status == FORBIDDEN and hides:
                return await in_db(nothing_here, request)
            if status == FORBIDDEN:
                return await in_db(sentence, request, _not_allowed(), FORBIDDEN)
            try:
                return await view(request, **named)
            except (Refused, DatabaseError) as error:
                return await in_db(refusal, request, _as_refused(error))

        # ATOMIC_REQUESTS takes no async views; the engine has units of its own.
        return transaction.non_atomic_requests(_in_language_of_page(admitted))

    return decorate


def _in_language_of_page(view: View) -> View:
    """
    Let a script be answered in the language of its page.

    `i18n_patterns` name it in the address of that page, and not in ours.
    """

    @wraps(view)
    async def answered(request: HttpRequest, **named: str) -> HttpResponse:
        pages = [request.headers[one] for one in FROM_PAGE if one in request.headers]
        is_script = FETCHED in request.headers
        language = language_of_page(pages[0]) if is_script and pages else get_language()
        if language is None or language == get_language():
            return await view(request, **named)
        request.LANGUAGE_CODE = language
        with override(language):
            response = await view(request, **named)
        response.headers["Content-Language"] = language
        return response

    return answered


def nothing_here(request: HttpRequest) -> HttpResponse:
    """Return the site's 404 for an address that is a secret: it is told to no log."""
    handler: Any = get_resolver(get_urlconf()).resolve_error_handler(404)
    response: HttpResponse = handler(request, exception=Http404())
    response["Referrer-Policy"] = NO_REFERRER
    response._has_been_logged = True  # type: ignore[attr-defined] # noqa: SLF001
    return response


def _as_refused(error: Refused | DatabaseError) -> Refused:
    refused = error if isinstance(error, Refused) else refusal_of(error)
    if refused is None:
        raise error
    return refused


def _admission(request: HttpRequest, allowed: Callable[[Any], bool]) -> int:
    """Load the user, once for the whole request, and return the status to answer."""
    if not request.user.is_authenticated:
        return UNAUTHORIZED
    refresh()
    return OK if allowed(request.user) else FORBIDDEN


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Return the sentence of `refused`."""
    if refused.code == "not_found":
        raise Http404(str(refused))
    if isinstance(refused, Limited):
        return _limited(request, refused)
    if request.headers.get(FETCHED):
        return sentence(request, str(refused), 200, code=refused.code)
    return sentence(request, str(refused), STATUS.get(refused.code, 400))


def _limited(request: HttpRequest, limited: Limited) -> HttpResponse:
    """Return the sentence, the time at which it is worth while to try again, 429."""
    text = f"{limited} {opens_again_text(limited.opens_at)}".strip()
    if not limited.wait_s:
        return sentence(request, text, TOO_MANY)
    response = sentence(request, text, TOO_MANY, wait_s=limited.wait_s)
    response["Retry-After"] = str(limited.wait_s)
    return response


def sentence(
    request: HttpRequest, text: str, status: int, *, wait_s: int = 0, code: str = ""
) -> HttpResponse:
    """
    Return a sentence: a fragment for a script, a page for a person.

    `wait_s`: in so many seconds the same may be sent again. `code`: of a refusal.
    """
    context = {"notice": text, "next": back(request), "wait_s": wait_s, "code": code}
    if request.headers.get(FETCHED):
        is_message = full_path(request) == reverse("ai_assistant:send")
        name = "limited.html" if wait_s and is_message else "notice.html"
        response = render(request, f"ai_assistant/{name}", context, status=status)
        # Not in place of what was asked for, as a list.
        response["HX-Retarget"], response["HX-Reswap"] = "#aia-notice", "innerHTML"
        return response
    return own_page(request, "ai_assistant/refused.html", context, status=status)


def back(request: HttpRequest) -> str:
    """Return the URL to go back to without JavaScript: the page of the form."""
    wanted = request.POST.get("next") or request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(
        wanted, {request.get_host()}, require_https=request.is_secure()
    ):
        return wanted
    return reverse("ai_assistant:full")


def done(request: HttpRequest) -> HttpResponse:
    """Return the response to an action that was executed."""
    if request.headers.get(FETCHED):
        return HttpResponse(status=204)
    response = HttpResponse(status=303)
    response["Location"] = iri_to_uri(f"{back(request).partition('#')[0]}#aia")
    return response


def _not_allowed() -> str:
    return _("You have no permission for this. Ask whoever runs this site.")


def _sign_in(request: HttpRequest) -> HttpResponse:
    if request.headers.get(FETCHED):
        return HttpResponse(_("You are signed out."), status=401)
    return redirect_to_login(full_path(request), reverse("admin:login"))


def own_page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, object],
    *,
    status: int = 200,
) -> HttpResponse:
    """
    Return the page of `template`, which extends `admin/base_site.html`.

    It is given what every page of the admin is given: themes take the colours, the
    menu and the name of the site from that.
    """
    framed = {**admin.site.each_context(request), **context}
    return render(request, template, framed, status=status)
