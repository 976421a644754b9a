"""An admin that opens to people who were verified by a second factor, as django-otp's."""

from types import ModuleType

import pytest
from django.contrib import admin
from django.urls import clear_url_caches, include, path
from django.utils.functional import SimpleLazyObject

from tests.warehouse.models import Mark, Product


class Verifying:
    """Makes a user who knows the second factor of the session, as django-otp does."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        user, session = request.user, request.session

        def verified():
            user.is_verified = lambda: session.get("otp_device_id") == "device"
            return user

        request.user = SimpleLazyObject(verified)
        return self.get_response(request)


class VerifiedSite(admin.AdminSite):
    def has_permission(self, request):
        return super().has_permission(request) and request.user.is_verified()


@pytest.fixture
def verified_site(settings):
    site = VerifiedSite(name="admin")
    site.register([Product, Mark])
    urls = ModuleType("urls_verified")
    urls.urlpatterns = [
        path("admin/", site.urls),
        path("assistant/", include("ai_assistant.urls")),
    ]
    settings.ROOT_URLCONF = urls
    clear_url_caches()
    yield site
    clear_url_caches()
