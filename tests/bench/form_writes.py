"""
CPU of the writes of forms: the POST of the admin's page, and the tool in its place.

The page is answered by Django's own handler, with the middlewares of the site and a
stored session; the tool takes the form, fills it in, posts it to the view and records
the rows, as it does once it is approved. Both write the same, and all is taken back.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import process_time
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.db import transaction
from django.test import Client, RequestFactory, override_settings

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.context.page import page_info
from ai_assistant.engine.calls.trial import unkept_caches
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.tools.data.access.model_admin import find_access
from ai_assistant.tools.data.writing.harvest import is_django_form
from tests.hosts.packages.cases import Case
from tests.hosts.packages.context import context_on
from tests.hosts.packages.person import Person
from tests.tools.data.oracle.browser import Posted

WARM_UP = 3
REPEATS = 18
FORM = "application/x-www-form-urlencoded"
WITH_A_FORM = ("create_object", "change_object")

Work = Callable[[], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class FormWrite:
    """What one write of a form takes, as a median, in milliseconds of CPU."""

    name: str
    is_direct: bool  # the form is taken directly, and not by its view
    page_ms: float
    tool_ms: float


class Typist(Person):
    """A person who fills in the form, and stops before it is posted."""

    url = ""

    def _post(self, url: str, data: Posted) -> None:
        self.url, self.data = url, data


class Server(BaseHandler):
    """Answers as a server does, without a middleware of the assistant."""

    def __init__(self) -> None:
        super().__init__()
        own = [one for one in settings.MIDDLEWARE if not one.startswith("ai_assistant")]
        with override_settings(MIDDLEWARE=own):
            self.load_middleware()


def measured(
    cases: Mapping[str, Case], client: Client, user: Any
) -> Iterator[FormWrite]:
    """Yield the figures of each case that saves a form; the client is signed in."""
    server = Server()
    start = context_on("/admin/", client, user)
    for name, case in cases.items():
        if case.tool not in WITH_A_FORM or case.refused:
            continue
        typist = Typist(client, case)
        typist.act()
        page = page_info(typist.address)
        context = replace(start, page=page, is_as_shown=True)
        works = _by_page(server, typist), _by_tool(case, context)
        pairs = [(_cpu_ms(works[0]), _cpu_ms(works[1])) for _ in range(REPEATS)]
        page_ms, tool_ms = map(statistics.median, zip(*pairs[WARM_UP:], strict=True))
        yield FormWrite(
            name=name,
            is_direct=_is_direct(case, context),
            page_ms=page_ms,
            tool_ms=tool_ms,
        )


def _by_page(server: Server, typist: Typist) -> Callable[[], Work]:
    """Return what makes a POST of the page, ready to be answered."""
    factory = RequestFactory(**typist.client.defaults)
    factory.cookies = typist.client.cookies
    body = urlencode(typist.data, doseq=True)

    def ready() -> Work:
        request = factory.post(typist.url, body, content_type=FORM)
        request._dont_enforce_csrf_checks = True

        def answer() -> None:
            response = server.get_response(request)
            assert response.status_code == 302, typist.url

        return answer

    return ready


def _by_tool(case: Case, context: Any) -> Callable[[], Work]:
    """Return what makes a call of the tool, its arguments checked already."""
    tool = registry.tool(case.tool)
    given = validate_arguments(tool, {"model": case.model, **case.arguments})

    def call() -> None:
        with recording() as recorder:
            result = tool.handler(context, **given)
        assert result.ok, result
        assert recorder.rows

    return lambda: call


def _cpu_ms(prepare: Callable[[], Work]) -> float:
    work = prepare()
    with transaction.atomic(), unkept_caches():
        begin = process_time()
        work()
        took = process_time() - begin
        transaction.set_rollback(True)
    return took * 1000


def _is_direct(case: Case, context: Any) -> bool:
    access = find_access(context, case.model, perm="add")
    pk = case.arguments.get("id")
    return is_django_form(access.at_object(pk) if pk else access.at_page("add"))
