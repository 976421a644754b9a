from django.contrib import admin
from django.urls import URLPattern, path

from project.wiki import views
from project.wiki.models import Page


@admin.register(Page)
class PageAdmin(admin.ModelAdmin):
    """The pages; they are read at an address of their own."""

    list_display = ("title", "slug")
    search_fields = ("title", "text")
    autocomplete_fields = ("see_also",)
    prepopulated_fields = {"slug": ("title",)}  # noqa: RUF012 - as Django writes it

    def get_urls(self) -> list[URLPattern]:
        own = self.admin_site.admin_view
        return [
            path("read/", own(views.index), name="wiki_page_index"),
            path("read/<slug:slug>/", own(views.read), name="wiki_page_read"),
            *super().get_urls(),
        ]
