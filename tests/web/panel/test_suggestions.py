"""What a page suggests, where nothing was asked yet."""

import pytest

from ai_assistant.web.panel.chips import page_context, suggestions_of
from tests.web.conftest import ask
from tests.web.markup import one_with

pytestmark = pytest.mark.usefixtures("quiet")

SCHEDULES = "/admin/questionnaires/schedule/"
ASKED = "When is each questionnaire asked?"


@pytest.fixture
def ada(people, browser):
    people["ada"].is_superuser = True
    people["ada"].save()
    client = browser("ada")
    client.cookies["aia_ui"] = "o=1&m=dock&w=400&c="
    return client


def test_stands_in_the_empty_panel_of_its_pages(ada):
    html = ada.get(SCHEDULES).content.decode()

    assert f'data-aia-ask="{ASKED}"' in html
    one_with(html, id="aia-empty")


def test_is_not_on_other_pages(ada):
    html = ada.get("/admin/").content.decode()

    assert "data-aia-ask" not in html


def test_gives_way_to_a_conversation(ada, people):
    run = ask(people["ada"])
    ada.cookies["aia_ui"] = f"o=1&m=dock&w=400&c={run.conversation_id}"

    html = ada.get(SCHEDULES).content.decode()

    assert ASKED not in html


def test_is_not_for_those_who_may_not_open_the_page(people):
    ada, nobody = people["ada"], people["nobody"]
    ada.is_superuser = True

    assert ASKED in suggestions_of(page_context(ada, SCHEDULES))
    closed = page_context(nobody, SCHEDULES)
    assert (closed.module, suggestions_of(closed)) == ("default", [])
