from django.urls import path

from tests.hosts.packages.sites.ninja.api import api
from tests.hosts.packages.sites.ninja.async_views import TagCount
from tests.hosts.packages.sites.ninja.traps import traps

urlpatterns = [
    path("", api.urls),
    path("traps/", traps.urls),
    path("tag-count/", TagCount.as_view(), name="tag-count"),
]
