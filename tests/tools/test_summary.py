"""What the card of a call says: from its own result, in a line and as a table."""

import pytest

import ai_assistant
from ai_assistant.engine.interrupts.results import record_result
from ai_assistant.exceptions import NotRegistered
from ai_assistant.registry import registry
from ai_assistant.tools.summary import CELL_CHARS, MOST_ROWS, summary_of, table_of
from ai_assistant.tools.toolset import Toolset
from ai_assistant.types import ToolResult
from tests.render.html.story import Story

SEARCH = {
    "model": "auth.group",
    "total": 26,
    "page": 1,
    "pages": 2,
    "rows": [
        {
            "id": 3,
            "text": "Editors",
            "version": "v",
            "fields": {"name": "Editors", "permissions": [{"id": 1, "text": "Can"}]},
        }
    ],
}


def said(name, data, arguments=None, **fields):
    tool = registry.tool(name)
    label = str(tool.display.label) if tool else name
    result = ToolResult(ok=True, data=data, **fields)
    return summary_of(tool, label, arguments or {}, result)


class TestBuiltIn:
    @pytest.mark.parametrize(
        ("name", "data", "arguments", "expected"),
        [
            ("search_objects", SEARCH, {}, "Searched groups: 26 found"),
            (
                "search_objects",
                SEARCH,
                {"search": " ed  it "},
                "Searched groups for “ed it”: 26 found",
            ),
            (
                "aggregate_objects",
                {"model": "auth.group", "rows": [{"count": 1260}]},
                {},
                "Counted groups: 1,260",
            ),
            (
                "aggregate_objects",
                {"model": "auth.group", "rows": [{"group": {"a": 1}, "count": 2}] * 5},
                {"group_by": ["a"]},
                "Counted groups: 5 groups",
            ),
            (
                "get_object",
                {"model": "auth.group", "id": 3, "text": "Editors"},
                {},
                "Opened Editors",
            ),
            ("change_object", {"id": "3", "text": "Editors"}, {}, "Changed Editors"),
            ("create_object", {"id": "3", "text": "Editors"}, {}, "Added Editors"),
            ("navigate_to", {"title": "Groups"}, {}, "Opened Groups"),
            ("find_tools", {"found": ["a", "b"]}, {}, "Looked for tools: 2 found"),
            (
                "list_models",
                [{"model": "auth.group"}],
                {},
                "Looked at the list of models: 1",
            ),
        ],
    )
    def test_says_what_happened(self, name, data, arguments, expected):
        assert said(name, data, arguments) == expected

    def test_message_of_a_result_is_said_without_its_stop(self):
        assert said("change_objects", {}, message="Changed 3 groups.") == (
            "Changed 3 groups"
        )


class TestOwn:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            ({"total": 24, "orders": []}, "orders: 24 found"),
            ([{"a": 1}, {"a": 2}], "orders: 2 found"),
            ([], "orders: 0 found"),
            ({"title": "An  order"}, "orders: An order"),
            ({"total": True}, ""),
            ("a text", ""),
            (None, ""),
        ],
    )
    def test_default(self, data, expected):
        assert said("orders", data) == expected

    def test_result_says_it_itself(self):
        assert said("get_object", {}, summary="As I say") == "As I say"

    @pytest.mark.parametrize("returned", [None, "", 1 / 3])
    def test_summary_of_the_tool_is_contained(self, returned, caplog):
        def summary(arguments, data):
            return returned if returned != 1 / 3 else data["nothing"]

        with registry.restored():
            ai_assistant.tool(effect="read", label="Look", summary=summary)(look)

            assert said("look", {"title": "Rome"}) == "Look: Rome"
        assert ("the summary of tool 'look' failed" in caplog.text) == (
            returned == 1 / 3
        )

    def test_toolset_gives_summaries(self):
        with registry.restored():
            ai_assistant.tool(effect="read", label="Look")(look)
            tools = Toolset("crm", [registry.tool("look")])
            own = tools.summarized({"look": lambda arguments, data: f"Saw {data}"})
            own.prefixed().register()

            assert said("crm_look", 7) == "Saw 7"
            with pytest.raises(NotRegistered):
                tools.summarized({"other": len})

    def test_is_one_line_without_secrets(self):
        line = said("look", None, summary="a\nb api_key=sk-abcdefghijklmnopqrstuvwx")

        assert "\n" not in line
        assert "sk-abcdef" not in line
        assert len(said("look", None, summary="x" * 500)) == 300

    @pytest.mark.django_db
    def test_call_keeps_what_its_card_says(self, django_user_model):
        story = Story(django_user_model.objects.create_superuser("ada"))
        story.ask("Hello")
        story._reply(("echo",))
        call = story.run.calls.get()
        call.name = "search_objects"
        record_result(call, ToolResult(ok=True, data=SEARCH))
        call.refresh_from_db()

        assert call.summary == "Searched groups: 26 found"
        assert call.shown["rows"][0][0]["model"] == "auth.group"


class TestTable:
    def test_rows_have_labels_and_links(self):
        table = table_of(SEARCH)

        assert table["fields"] == [["Total", {"text": "26"}]]
        assert table["columns"] == ["Group", "Permissions"]
        assert table["rows"] == [
            [
                {"text": "Editors", "model": "auth.group", "id": "3"},
                {"text": "Can"},
            ]
        ]

    def test_object_is_a_list_of_fields(self):
        data = {
            "model": "auth.user",
            "id": 1,
            "text": "ada",
            "fields": {"is_active": True, "date_joined": "2026-01-02T03:04:05Z"},
            "may": ["change", "delete"],
        }

        assert table_of(data)["fields"] == [
            ["User", {"text": "ada", "model": "auth.user", "id": "1"}],
            ["Active", {"text": "Yes"}],
            ["Date joined", {"text": table_of(data)["fields"][2][1]["text"]}],
            ["May", {"text": "change, delete"}],
        ]
        assert "T03" not in table_of(data)["fields"][2][1]["text"]

    @pytest.mark.parametrize("data", [None, "a text", 7, [], {}, [1, 2], {"a": None}])
    def test_none_without_fields_or_rows(self, data):
        assert table_of(data) is None

    def test_key_without_a_name(self):
        row = {"id": 1, "text": "a", "": 1}

        assert table_of({"": 1, "a": 2})["fields"] == [["A", {"text": "2"}]]
        assert table_of({"rows": [row, row]})["columns"] == [""]

    def test_is_small(self):
        rows = [{"name": "x" * 1000, "deep": {"a": [1]}} for _ in range(100)]
        table = table_of({"rows": rows})

        assert len(table["rows"]) == MOST_ROWS
        assert table["more"] == 100 - MOST_ROWS
        assert len(table["rows"][0][0]["text"]) == CELL_CHARS

    def test_model_of_the_result_may_be_unknown(self):
        table = table_of({"model": "no.such", "rows": [{"id": 1, "text": "a"}]})

        assert table["rows"] == [[{"text": "a"}]]


def look(place: str) -> str:
    """Look at a place."""
    return place
