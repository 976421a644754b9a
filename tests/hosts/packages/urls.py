"""The admin and the assistant, and what the site of the package adds."""

import importlib

from django.contrib import admin
from django.urls import include, path

from tests.hosts.packages.settings import OWN_APP

_site = importlib.import_module(f"{OWN_APP}.site")
_admin_site = getattr(_site, "ADMIN_SITE", None)
_mounted = _admin_site() if _admin_site else admin.site

urlpatterns = [
    *(path(route, include(urls)) for route, urls in getattr(_site, "URLS", ())),
    path("admin/", _mounted.urls),
    path("assistant/", include("ai_assistant.urls")),
]
