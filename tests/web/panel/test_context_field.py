"""What a page may say with a message: anything; the message is sent all the same."""

import json

import pytest
from django.test import RequestFactory

from ai_assistant import conf
from ai_assistant.engine.lifecycle.scope import kept_of
from ai_assistant.models import Run
from ai_assistant.web.panel.fields import read_context
from tests.web.panel.test_send import form, send

BIG = 1_000_000


def read(context: object = None, tools: object = None, **raw: str) -> dict:
    said = {"context": context, "tools": tools}
    fields = {
        key: json.dumps(value) for key, value in said.items() if value is not None
    }
    return read_context(RequestFactory().post("/", {**fields, **raw}))


class TestItems:
    @pytest.mark.row("C04")
    def test_items_are_stored_and_become_items_of_the_browser(self):
        said = {"id": "page-rows", "label": "Rows", "description": "d", "value": [1]}

        stored = read({"browser": [said]})

        (item,) = kept_of(stored).browser
        assert (item.id, item.title, item.value) == ("browser.page-rows", "Rows", [1])
        assert (item.source, item.label, item.auto) == ("browser", "data", True)

    def test_too_large_one_is_named_and_left_out(self):
        large = {"id": "large", "label": "L", "description": "d", "value": "x" * BIG}
        small = {"id": "small", "label": "S", "description": "d", "value": 1}

        stored = read({"browser": [large, small]})

        assert stored["refused"] == ["large"]
        first, second = stored["browser"]
        assert first["value"].startswith("left out: too large (1000")
        assert second["value"] == 1
        assert len(json.dumps(stored)) < 1000

    def test_all_together_have_a_bound(self, monkeypatch):
        monkeypatch.setattr(conf, "BROWSER_CONTEXT_CHARS", 1000)
        said = [{"id": str(n), "value": "x" * 200} for n in range(40)]

        stored = read({"browser": said})

        assert len(json.dumps(stored["browser"])) < 1200
        assert "0" not in stored["refused"]
        assert "39" in stored["refused"]

    def test_same_id_counts_once(self):
        said = [{"id": "a", "value": 1}, {"id": "a", "value": 2}]

        assert [item["value"] for item in read({"browser": said})["browser"]] == [1]

    def test_texts_are_made_whole(self):
        said = {"id": "a\0", "value": {"k\0": ["\ud800", "ok"]}}

        (item,) = read({"browser": [said]})["browser"]

        assert item["id"] == "a\ufffd"
        assert item["value"] == {"k\ufffd": ["\ufffd", "ok"]}

    def test_forged_source_and_label_say_nothing(self):
        said = {"id": "a", "source": "server", "label": "site", "priority": 999}

        (item,) = kept_of(read({"browser": [said]})).browser

        assert (item.source, item.label, item.priority) == ("browser", "data", 10)


class TestNonsense:
    @pytest.mark.parametrize(
        "context",
        [
            *("{", "null", "[]", "7", '"x"', "NaN", "[" * 100_000, "1" * 5000),
            *('{"browser": 7}', '{"browser": [7, null, {}, {"id": 3}, {"id": ""}]}'),
            *('{"dropped": "page"}', '{"mentioned": [1, null, ""]}'),
            '{"browser": [{"id": "a", "value": NaN}]}',
        ],
    )
    def test_nonsense_is_left_out(self, context):
        assert read_context(RequestFactory().post("/", {"context": context})) == {}

    @pytest.mark.parametrize("context", ["{", "[" * 100_000, '{"dropped": 7}'])
    def test_nonsense_never_loses_the_message(self, browser, quiet, context):
        response = send(browser("ada"), form(context=context), script=True)

        assert response.status_code == 204
        assert Run.objects.get().context == {}

    def test_names_have_a_bound(self):
        stored = read({"dropped": [*map(str, range(500)), "x" * 1000]})

        assert len(stored["dropped"]) == 100


class TestStored:
    @pytest.mark.row("C06")
    def test_run_keeps_what_was_dropped_and_mentioned(self, browser, quiet):
        said = {"dropped": ["page"], "mentioned": ["notes"], "browser": []}

        send(
            browser("ada"), form(context=json.dumps(said), title="A page"), script=True
        )

        run = Run.objects.get()
        assert run.context == {"dropped": ["page"], "mentioned": ["notes"]}
        assert run.page_title == "A page"


TOOL = {"name": "zoom", "description": "d", "parameters": {"type": "object"}}


class TestTools:
    def test_tools_are_stored(self):
        assert read(tools=[{**TOOL, "effect": "write"}]) == {"tools": [TOOL]}

    @pytest.mark.parametrize(
        "tools",
        [
            *({}, 7, [7], [{"name": "a b"}], [{"name": 3}]),
            *([{"name": "zoom", "parameters": [1]}], ["x" * 30_000]),
        ],
    )
    def test_nonsense_is_left_out(self, tools):
        assert read(tools=tools) == {}

    def test_twenty_at_most(self):
        many = [{**TOOL, "name": f"t{n}"} for n in range(30)]

        assert len(read(tools=many)["tools"]) == 20

    def test_setting_turns_them_off(self, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "CLIENT_TOOLS": False}

        assert read(tools=[TOOL]) == {}


class TestDeep:
    @pytest.mark.parametrize(("depth", "is_kept"), [(20, True), (40, False)])
    def test_deep_is_left_out(self, depth, is_kept):
        deep = json.loads("[" * depth + "]" * depth)

        stored = read(
            {"browser": [{"id": "a", "value": deep}]},
            [{"name": "pick", "parameters": {"properties": {"a": {"enum": deep}}}}],
        )

        assert ("browser" in stored, "tools" in stored) == (is_kept, is_kept)
