from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _

from project.wiki.models import Page
from project.wiki.search import search

may_read = permission_required("wiki.view_page", raise_exception=True)


@may_read
def index(request: HttpRequest) -> HttpResponse:
    """Show the titles of all pages, or of those that are found."""
    query = request.GET.get("q", "").strip()
    context = {
        **admin.site.each_context(request),
        "title": _("Wiki"),
        "query": query,
        "pages": search(query) if query else Page.objects.all(),
    }
    return render(request, "wiki/index.html", context)


@may_read
def read(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one page."""
    page = get_object_or_404(Page, slug=slug)
    context = {**admin.site.each_context(request), "title": page.title, "page": page}
    return render(request, "wiki/page.html", context)
