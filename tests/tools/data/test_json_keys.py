"""What stands under secret keys of JSON is neither told, nor asked for, nor written."""

import json

import pytest
from django.db import transaction

from ai_assistant import ModelRetry, conf
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.registry import registry
from tests.tools.data.reading import call, context_of, text_of, try_call
from tests.tools.data.writing import preview, shown, use

MODEL = "warehouse.product"
DATA = {
    "host": "a",
    "password": "canary-1",
    "in": [{"totpSeed": "canary-2", "auth-key": {"x": "canary-3"}}],
}
MASKED = {
    "host": "a",
    "password": "•••",
    "in": [{"totpSeed": "•••", "auth-key": "•••"}],
}


@pytest.fixture
def lamp(stock):
    stock.lamp.data = DATA
    stock.lamp.save()
    return stock.lamp


def given(lamp, data):
    return {"model": MODEL, "id": lamp.pk, "values": {"data": data}}


class TestTold:
    def test_told_is_masked(self, boss, lamp):
        one = call("get_object", boss, model=MODEL, id=lamp.pk)
        every = call("search_objects", boss, model=MODEL, fields=["data"])

        assert one["fields"]["data"] == MASKED
        assert "canary" not in json.dumps([one, every])

    def test_told_may_be_opened_by_the_site(self, boss, lamp, settings):
        opened = {"DATA": {"NOT_SENSITIVE": [f"{MODEL}.data"]}}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, opened)

        told = call("get_object", boss, model=MODEL, id=lamp.pk)

        assert told["fields"]["data"] == DATA

    @pytest.mark.parametrize(
        ("tool", "arguments"),
        [
            ("search_objects", {"filters": {"data__password": "canary-1"}}),
            ("search_objects", {"filters": {"data__password__startswith": "c"}}),
            ("search_objects", {"filters": {"data__contains": "canary"}}),
            ("search_objects", {"filters": {"data__in__0__totpSeed": "canary-2"}}),
            ("search_objects", {"ordering": ["data__password"]}),
            ("aggregate_objects", {"group_by": ["data__password"]}),
            ("aggregate_objects", {"group_by": ["data"]}),
            ("aggregate_objects", {"measures": ["max:data__password"]}),
            ("find_related", {"field": "data__password"}),
        ],
    )
    def test_told_cannot_be_asked_for(self, boss, lamp, tool, arguments):
        result = try_call(tool, boss, model=MODEL, **arguments)

        assert not result.ok
        assert "canary" not in text_of(result).replace("canary'", "")


class TestWritten:
    def test_written_stays_where_it_is_given_back_masked(self, boss, lamp):
        values = given(lamp, {**MASKED, "host": "b"})
        card = shown(preview("change_object", boss, **values))
        with transaction.atomic(), recording() as recorder:
            result = use("change_object", boss, **values)

        lamp.refresh_from_db()
        (row,) = recorder.rows
        assert result.ok
        assert lamp.data == {**DATA, "host": "b"}
        assert "canary" not in json.dumps([card, row.before, row.after], default=str)
        assert '"host": "b"' in card["data"][1]

    @pytest.mark.parametrize(
        "data",
        [
            {"host": "b"},
            {**MASKED, "password": "mine"},
            {**MASKED, "apiKey": "mine"},
            {**MASKED, "in": []},
            None,
            "null",
            json.dumps({"password": "mine"}),
        ],
    )
    def test_written_is_not_overwritten(self, boss, lamp, data):
        with pytest.raises(ModelRetry, match="kept from the assistant"):
            use("change_object", boss, **given(lamp, data))
        with pytest.raises(ModelRetry, match="kept from the assistant"):
            use(
                "change_objects",
                boss,
                model=MODEL,
                ids=[lamp.pk],
                values={"data": data},
            )

        lamp.refresh_from_db()
        assert lamp.data == DATA

    def test_written_is_not_made(self, boss, stock):
        with pytest.raises(ModelRetry, match="kept from the assistant"):
            use("change_object", boss, **given(stock.chair, {"password": "mine"}))

    def test_written_is_not_in_the_form_of_the_card(self, boss, lamp):
        editor = registry.tool("change_object").approval.editor

        form = editor.form(context_of(boss), given(lamp, {**MASKED, "host": "b"}))

        assert "canary" not in form.as_p()
