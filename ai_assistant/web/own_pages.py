"""Pages of the assistant's own, in the frame that the site's admin has."""

from collections.abc import Mapping

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


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
