"""Under `i18n_patterns` the panel speaks as its page does, whatever the browser wants."""

from types import ModuleType

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import clear_url_caches, include, path, reverse

from ai_assistant.models import Run
from tests.web.conftest import asked_to_approve
from tests.web.panel.test_send import form

SCRIPT = {"HX-Request": "true", "Accept-Language": "en"}
GERMAN, ENGLISH = "http://testserver/de/admin/", "http://testserver/en/admin/"
EMPTY = {"en": "Write a message first.", "de": "Schreiben Sie zuerst eine Nachricht."}

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(autouse=True)
def _prefixed(settings):
    urls = ModuleType("urls_prefixed")
    urls.urlpatterns = [
        *i18n_patterns(path("admin/", admin.site.urls)),
        path("assistant/", include("ai_assistant.urls")),
    ]
    settings.ROOT_URLCONF = urls
    clear_url_caches()
    yield
    clear_url_caches()


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({"HX-Current-URL": GERMAN}, "de"),
        ({"Referer": GERMAN}, "de"),  # of a script without htmx
        ({"HX-Current-URL": ENGLISH, "Referer": GERMAN}, "en"),
        ({"HX-Current-URL": "http://testserver/assistant/"}, "en"),
        ({"HX-Current-URL": "http://[/de/"}, "en"),
        ({}, "en"),
    ],
)
def test_script_is_answered_as_its_page_speaks(browser, headers, language):
    address, fields = reverse("ai_assistant:send"), form(text="")

    answer = browser("ada").post(address, fields, headers={**SCRIPT, **headers})

    assert EMPTY[language] in answer.content.decode()
    assert answer["Content-Language"] == language


def test_card_and_what_is_around_it(browser, people):
    waiting = asked_to_approve(people["ada"])
    given = {"conversation": str(waiting.run.conversation_id), "path": "/de/admin/"}
    headers = {**SCRIPT, "HX-Current-URL": GERMAN}

    panel = browser("ada").get(reverse("ai_assistant:page"), given, headers=headers)

    assert "Ablehnen" in panel.content.decode()
    assert "Deny" not in panel.content.decode()


def test_page_of_its_own_speaks_as_the_browser_wants(browser):
    """What it fetches has no other page around it."""
    headers = {"Accept-Language": "en", "Referer": GERMAN}

    page = browser("ada").get(reverse("ai_assistant:full"), headers=headers)

    assert page["Content-Language"] == "en"
    assert '<html lang="en' in page.content.decode()


def test_run_is_in_the_language_of_the_page(browser):
    address, headers = reverse("ai_assistant:send"), {"Accept-Language": "en"}

    browser("ada").post(address, form(path="/de/admin/"), headers=headers)

    assert Run.objects.get().language == "de"
