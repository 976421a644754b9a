"""An AdminSite that is closed to the assistant takes its tools away, and is named."""

import json
import logging
from contextlib import suppress
from io import StringIO
from types import ModuleType

import pytest
from django.contrib import admin
from django.core.management import call_command
from django.urls import include, path

from ai_assistant.management.doctor import examine
from ai_assistant.testing import call, reply, run_assistant
from ai_assistant.tools.data.access.sites import are_enabled, warn_once, why_missing
from tests.library.models import Author, Book
from tests.tools.data.reading import context_of, staff

REFUSES = "VerifiedSite.has_permission() refuses a request of the assistant"
RAISES = "VerifiedSite.has_permission() raises AttributeError for a request of the"


class VerifiedSite(admin.AdminSite):
    """Lets in whom its middleware has verified, as django-otp's does."""

    def has_permission(self, request):
        return super().has_permission(request) and request.user.is_verified()


class SessionSite(VerifiedSite):
    def has_permission(self, request):
        return "second_factor" in getattr(request, "session", ())


SessionSite.__name__ = "VerifiedSite"


@pytest.fixture
def sites(settings):
    """Serve these sites, and no other."""
    warn_once.cache_clear()

    def serve(**named):
        module = ModuleType("urls_closed")
        module.urlpatterns = [
            *(path(f"{name}/", site.urls) for name, site in named.items()),
            path("assistant/", include("ai_assistant.urls")),
        ]
        settings.ROOT_URLCONF = module

    yield serve
    warn_once.cache_clear()


def made(kind, name, *models):
    site = kind(name=name)
    for model in models:
        site.register(model)
    return site


@pytest.mark.parametrize(
    ("kind", "why"), [(VerifiedSite, RAISES), (SessionSite, REFUSES)]
)
class TestClosed:
    def test_closed_says_why(self, sites, boss, kind, why):
        sites(admin=made(kind, "admin", Book))

        (said,) = why_missing(boss)

        assert said.startswith("AdminSite 'admin' is closed to the assistant")
        assert why in said

    def test_log_says_it_once(self, sites, boss, kind, why, caplog):
        sites(admin=made(kind, "admin", Book))

        with caplog.at_level(logging.WARNING, "ai_assistant"):
            assert not are_enabled(context_of(boss))
            assert not are_enabled(context_of(boss))

        assert [why in one.getMessage() for one in caplog.records] == [True]

    def test_find_tools_says_it(self, sites, boss, kind, why):
        sites(admin=made(kind, "admin", Book))

        played = run_assistant(
            boss,
            "/admin/",
            "Find the books.",
            replies=[reply("", call("find_tools", {"query": "search books"})), "No."],
        )

        assert "search_objects" not in played.offered
        assert "find_tools" in played.offered
        assert why in played.calls[0].read_by_model

    def test_doctor_says_it(self, sites, boss, kind, why):
        sites(admin=made(kind, "admin", Book))
        told = StringIO()
        with suppress(SystemExit):  # these sites lack the pages of other apps
            call_command("assistant_doctor", "--json", stdout=told)

        found = json.loads(told.getvalue())
        assert [why in one for one in found["problems"] if "doctor.admin" in one] == [
            True
        ]
        (problem,) = [one for one in examine().problems if one.id == "doctor.admin"]
        assert not problem.blocks


class TestBeside:
    def test_other_sites_stay_open(self, sites, boss):
        sites(
            admin=made(VerifiedSite, "admin", Book),
            back=made(admin.AdminSite, "back", Author),
        )

        assert are_enabled(context_of(boss))
        (said,) = why_missing(boss)
        assert "'admin'" in said

    def test_site_without_an_admin(self, sites, boss):
        sites()

        assert why_missing(boss) == [
            "No AdminSite has pages, so there are no tools for rows. Include the URLs "
            'of one, or set AI_ASSISTANT["DATA"]["TOOLS"] = False.'
        ]

    def test_no_word_where_django_itself_lets_nobody_in(self, sites, boss):
        sites(admin=made(VerifiedSite, "admin", Book))
        boss.is_staff = False

        assert why_missing(boss) == []

    def test_no_word_if_they_are_switched_off(self, sites, boss, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": {"TOOLS": False}}
        sites(admin=made(VerifiedSite, "admin", Book))

        assert why_missing(boss) == []

    def test_no_word_of_what_is_open(self, boss):
        assert why_missing(boss) == []
        assert why_missing(staff("lia", "view_book")) == []
