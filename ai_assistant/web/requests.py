"""Accepted requests are carried out even if the browser leaves; pages of our own."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.contrib import admin
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

T = TypeVar("T")

_running: set[asyncio.Future[Any]] = set()


def outliving(work: Awaitable[T]) -> asyncio.Future[T]:
    """Begin work that outlives its request."""
    task = asyncio.ensure_future(work)
    _running.add(task)  # the reference keeps it from being collected
    task.add_done_callback(_running.discard)
    return task


async def to_the_end(work: Awaitable[T]) -> T:
    """Do what was accepted, also when its client has left; return what came of it."""
    return await asyncio.shield(outliving(work))


class OneThreadHandler(ASGIHandler):
    """
    Answers a request by the synchronous chain of the site's middleware.

    Under ASGI Django goes to a thread and back for each half of each middleware that
    knows no async, and most know none: some thirty changes of thread before a message
    is accepted, each of which waits its turn on a busy server. Here it is one; an
    async view still runs on the event loop.
    """

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - as Django has it
        """Load the chain for a thread, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> Any:
        """Return the response, made in the thread of this request."""
        answer: HttpResponseBase = await sync_to_async(self.get_response)(request)
        return answer


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
