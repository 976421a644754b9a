"""Objects that are kept from the assistant: which one is open, and no more."""

import json

import pytest
from django.contrib import admin

from ai_assistant.context.collect import collect_items, from_browser
from ai_assistant.context.page import page_info
from ai_assistant.types import RunContext
from ai_assistant.web.panel.chips import chips_of
from project.questionnaires.models import Questionnaire
from tests.context.conftest import context_of

pytestmark = [pytest.mark.django_db, pytest.mark.row("C15")]

LIST = "/admin/questionnaires/questionnaire/"
BROWSER = [
    {"id": "page-fields", "value": {"title": "Weekly 2"}},
    {"id": "page-selection", "value": "Weekly"},
    {"id": "page-rows", "value": {"count": 1, "rows": [{"id": "3", "text": "Weekly"}]}},
    {"id": "page-inlines", "value": [{"name": "Sections", "rows": 2}]},
]


@pytest.fixture
def questionnaire(user):
    return Questionnaire.objects.create(title="Weekly", owner=user)


@pytest.fixture(params=["sensitive", "excluded", "admin", "model", "not"])
def kept(request, settings, monkeypatch):
    """Keep questionnaires from the assistant, in each way in turn; return if so."""
    label = "questionnaires.questionnaire"
    options = {"sensitive": "SENSITIVE", "excluded": "MODELS_EXCLUDED"}
    if name := options.get(request.param):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": {name: [label]}}
    elif request.param == "admin":
        own = admin.site.get_model_admin(Questionnaire)
        monkeypatch.setattr(own, "assistant", False, raising=False)
    elif request.param == "model":
        monkeypatch.setattr(Questionnaire, "assistant", False, raising=False)
    return request.param != "not"


def opened(user, questionnaire):
    path = f"{LIST}{questionnaire.pk}/change/"
    title = f"{questionnaire} | Change questionnaire | Site admin"
    info = page_info(path, title)
    context = context_of(user, path)
    return RunContext(
        user=user,
        run_id=context.run_id,
        conversation_id=context.conversation_id,
        page=info,
    )


def told(context):
    found = collect_items(context, map(from_browser, BROWSER))
    return {item.id: item for item in found.items}


class TestWithheld:
    def test_text_is_told_nowhere(self, user, questionnaire, kept):
        items = told(opened(user, questionnaire))

        assert ("Weekly" not in str(items)) is kept

    def test_which_it_is_and_what_may_be_done_is_told(self, user, questionnaire, kept):
        items = told(opened(user, questionnaire))

        value = items["object"].value
        assert value["id"] == questionnaire.pk
        assert value["you may"] == ["view", "add", "change", "delete"]
        assert items["page"].value["model"] == "questionnaire"
        assert items["browser.page-rows"].value["rows"][0]["id"] == "3"
        assert "browser.page-inlines" in items

    def test_chips_say_it_and_have_no_text(self, user, questionnaire, kept):
        chips = chips_of(opened(user, questionnaire))

        assert chips.withheld is kept
        assert ("Weekly" not in str(chips)) is kept

    def test_chips_differ(self, user, questionnaire, kept):
        chips = chips_of(opened(user, questionnaire))

        titles = [chip.title for chip in chips.items]
        assert len({*titles}) == len(titles)
        if kept:
            assert titles == [f"Questionnaire {questionnaire.pk}"]

    @pytest.mark.parametrize("kept", ["excluded"], indirect=True)
    @pytest.mark.parametrize("value", [None, "x", {"rows": "x"}, {"rows": ["x"]}])
    def test_rows_of_any_form(self, user, questionnaire, kept, value):
        item = from_browser({"id": "page-rows", "value": value})

        found = collect_items(opened(user, questionnaire), [item]).items

        assert "x" not in json.dumps(found[-1].value)


def test_chip_of_the_start_page_is_the_same_with_and_without_its_title(user):
    chips = [
        chips_of(
            RunContext(
                user=user,
                run_id=context_of(user, "/admin/").run_id,
                conversation_id=context_of(user, "/admin/").conversation_id,
                page=page_info("/admin/", title),
            )
        )
        for title in ("", "Site administration | Django")
    ]

    assert {chip.items[0].title for chip in chips} == {"Start page"}
