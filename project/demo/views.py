from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


def start(request: HttpRequest) -> HttpResponse:
    """Show where the assistant can be tried."""
    context = {**admin.site.each_context(request), "title": _("Demo project")}
    return render(request, "start.html", context)
