"""What a site says in the panel: its banner, its line, what a page allows."""

import logging

import pytest

from ai_assistant import conf
from tests.web.markup import one_with

pytestmark = pytest.mark.usefixtures("quiet")

LIST = "/admin/questionnaires/questionnaire/"
BANNER = '<p class="aia-banner" data-level'


@pytest.fixture
def options(settings):
    def change(**changed):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)

    return change


@pytest.fixture
def open_page(people, browser):
    people["ada"].is_superuser = True
    people["ada"].save()
    client = browser("ada")
    client.cookies["aia_ui"] = "o=1&m=dock&w=400&c="
    return lambda path=LIST: client.get(path).content.decode(), client


def told(request):
    return {"text": f"As {request.user.get_username()} <b>", "level": "info"}


def broken(_request):
    raise ValueError("the site's own fault")


def nothing(_request):
    return None


class TestBanner:
    def test_banner_is_none_of_its_own(self, open_page):
        assert BANNER not in open_page[0]()

    @pytest.mark.parametrize(
        ("said", "level", "text"),
        [
            ({"text": "PRODUCTION", "level": "danger"}, "danger", "PRODUCTION"),
            ({"text": "PRODUCTION", "level": "loud"}, "warn", "PRODUCTION"),
            ("tests.web.panel.test_site_words.told", "info", "As ada &lt;b&gt;"),
        ],
    )
    def test_banner_is_drawn(self, open_page, options, said, level, text):
        options(PANEL={"BANNER": said})

        html = open_page[0]()

        assert f'data-level="{level}"' in html
        assert f'<strong dir="auto">{text}</strong>' in html

    def test_banner_is_drawn_anew_with_the_chips(self, open_page, options):
        options(PANEL={"BANNER": {"text": "PRODUCTION"}})

        html = open_page[1].get("/assistant/context/", {"path": LIST}).content.decode()

        assert '<strong dir="auto">PRODUCTION</strong>' in html

    @pytest.mark.parametrize("name", ["nothing", "broken", "not_there"])
    def test_banner_of_code_that_says_nothing(self, open_page, options, name, caplog):
        options(PANEL={"BANNER": f"tests.web.panel.test_site_words.{name}"})
        with caplog.at_level(logging.CRITICAL):
            html = open_page[0]()

        assert BANNER not in html
        one_with(html, id="aia-banner")


class TestDisclaimer:
    def test_disclaimer_is_ours_by_default(self, open_page):
        assert "The assistant can be wrong. Check what matters." in open_page[0]()

    def test_disclaimer_may_be_none(self, open_page, options):
        options(PANEL={"DISCLAIMER": ""})

        assert "aia-disclaimer" not in open_page[0]()

    def test_disclaimer_goes_until_it_says_something_else(self, open_page, options):
        draw, client = open_page
        options(PANEL={"DISCLAIMER": "Ask Ada."})
        mark = one_with(draw(), **{"data-aia-use": "dismiss"})["data-mark"]
        client.cookies["aia_read"] = mark
        assert "aia-disclaimer" not in draw()
        options(PANEL={"DISCLAIMER": "Ask Bob."})

        assert "Ask Bob." in draw()


class TestAllowed:
    def test_allowed_names_the_rows_of_the_page(self, open_page):
        wanted = "look up Questionnaires and propose changes to them."

        assert f"On this page the assistant can {wanted}" in open_page[0]()

    def test_allowed_says_what_is_kept_from_it(self, open_page):
        said = "Access tokens are kept from the assistant on this page."

        assert said in open_page[0]("/admin/ai_assistant/accesstoken/")

    def test_promises_nothing_without_the_tools(self, open_page, options):
        options(DATA={"TOOLS": False})

        assert "On this page the assistant can" not in open_page[0]()
