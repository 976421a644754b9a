"""Modules that name what is not there, or that nobody can tell apart."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

import ai_assistant
from ai_assistant import ContextModule
from ai_assistant.checks import check_assistant
from ai_assistant.registry import registry


@pytest.fixture(autouse=True)
def _restored():
    with registry.restored():
        yield


def ids():
    return [message.id for message in check_assistant()]


def module(name="Shop", **fields):
    return ai_assistant.register(type(f"{name}Module", (ContextModule,), fields))


class TestModules:
    @pytest.mark.row("M03")
    def test_equal_matches(self, only):
        module("One", matches=["admin:index"])
        module("Two", matches=["admin:index"])

        assert only() == (
            "ai_assistant.E100",
            f"Module 'two' ({__name__}) matches 'admin:index' as Module 'one' "
            f"({__name__}) does. | Give one of them a more specific match, or remove "
            "it.",
        )

    @pytest.mark.row("T12")
    @pytest.mark.parametrize(
        ("fields", "check_id"),
        [
            ({"tools": ["nothing"]}, "E101"),
            ({"overrides": {"nothing": "echo"}}, "E102"),
            ({"overrides": {"find_tools": "read_big"}}, "E102"),
            ({"features": {"telepathy": True}}, "E103"),
            ({"limits": {"words": 3}}, "E116"),
            ({"limits": {"steps": 0}}, "E116"),
            ({"features": {"attachments": True}}, "W104"),
            ({"features": {"rollback": True}}, "E113"),
        ],
    )
    def test_what_is_not_there(self, fields, check_id):
        module(**fields)

        assert ids() == [f"ai_assistant.{check_id}"]

    @pytest.mark.row("M11")
    def test_prompt_that_will_be_cut(self, only):
        module("Short", prompt="x" * 8000)
        module("Long", prompt="x" * 8001)

        check_id, said = only()
        assert check_id == "ai_assistant.W112"
        assert "Module 'long'" in said
        assert "8,001 characters" in said

    def test_rollback_with_its_methods(self):
        module(
            features={"rollback": True},
            take_snapshot=lambda self, context: None,
            apply_rollback=lambda self, context, snapshot: None,
        )

        assert ids() == []

    def test_get_tools_without_tools(self):
        module(get_tools=lambda self, context: ["read_big"])

        assert ids() == ["ai_assistant.W108"]

    def test_get_tools_of_some(self):
        module(tools=["read_big"], get_tools=lambda self, context: [])

        assert ids() == []

    @pytest.mark.row("M01")
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("matches", "admin:shop_order_change"),
            ("tools", "read_big"),
            ("suggestions", "How many?"),
        ],
    )
    def test_text_in_the_place_of_a_list(self, only, name, value):
        module(**{name: value})

        assert only() == (
            "ai_assistant.E109",
            f"Module 'shop' ({__name__}) gives {name!r} as a string: each letter "
            f"counts as one of them. | Write {name} = [{value!r}].",
        )

    @pytest.mark.row("M03")
    @pytest.mark.parametrize(
        ("pattern", "hint"),
        [
            ("admin:auth_grup_change", "Did you mean 'admin:auth_group_change'? "),
            ("auth_group_change", "Did you mean 'admin:auth_group_change'? "),
            ("nowhere:*", ""),
        ],
    )
    def test_modules_matches_no_view(self, only, pattern, hint):
        module(matches=["admin:auth_group_*", pattern])

        assert only() == (
            "ai_assistant.W111",
            f"Module 'shop' ({__name__}) matches {pattern!r}, and no view has such a "
            f"name. | {hint}Give the name of a view with its namespace.",
        )

    def test_letters_are_no_matches(self):
        module("One", matches="shop:a")
        module("Two", matches="shop:b")

        assert ids() == ["ai_assistant.E109", "ai_assistant.E109"]

    @pytest.mark.row("M01")
    @pytest.mark.parametrize(
        ("name", "near"),
        [
            ("tool", "tools"),
            ("match", "matches"),
            ("promt", "prompt"),
            ("readonly", "read_only"),
            ("feature", "features"),
            ("get_tool", "get_tools"),
        ],
    )
    def test_misspelt(self, only, name, near):
        module(**{name: ()})

        assert only() == (
            "ai_assistant.W110",
            f"Module 'shop' ({__name__}) has {name!r}, which nothing uses. | Write "
            f"{near!r}, if that is meant, or choose a less similar name.",
        )

    def test_misspelt_in_a_base_class(self):
        base = type("Base", (ContextModule,), {"tool": ()})
        ai_assistant.register(type("ShopModule", (base,), {}))

        assert ids() == ["ai_assistant.W110"]

    @pytest.mark.parametrize(
        "name", ["table", "model", "currency", "_tool", "open_order", "get_order"]
    )
    def test_own_attributes_are_free(self, name):
        module(**{name: ()})

        assert ids() == []

    def test_right_one(self):
        module(
            tools=["read_big"],
            overrides={"find_tools": "read_big"},
            features={"rollback": False, "reasoning": True},
        )

        assert ids() == []

    @pytest.mark.row("T12")
    def test_silent_override(self, with_tool):
        @ai_assistant.tool(effect="read", name="find_tools", replace=True)
        def own() -> None:
            """Find nothing."""

        (found,) = check_assistant()
        assert found.id == "ai_assistant.W105"


@pytest.mark.row("T07")
class TestDuplicate:
    def test_duplicate_names_both_places(self):
        @ai_assistant.tool(effect="read", name="read_big")
        def second() -> None:
            """Read nothing."""

        (found,) = check_assistant()
        assert found.id == "ai_assistant.E092"
        assert f"({__name__}, line " in found.msg
        assert "(tests.testapp.assistant, line " in found.msg
        assert registry.tool("read_big").origin == "tests.testapp.assistant"

    def test_replace_is_explicit(self):
        @ai_assistant.tool(effect="read", name="read_big", replace=True)
        def second() -> None:
            """Read nothing."""

        assert ids() == []
        assert registry.tool("read_big").handler is second


class TestManifest:
    @pytest.fixture
    def path(self, tmp_path, assistant):
        path = tmp_path / "tools.json"
        assistant(TOOL_MANIFEST=str(path))
        call_command("assistant_manifest", stdout=StringIO())
        return path

    def test_the_same(self, path: Path):
        assert ids() == []
        call_command("assistant_manifest", "--check")

    def test_changed(self, path, only):
        @ai_assistant.tool(effect="read", name="read_big", replace=True)
        def other(lines: int) -> None:
            """Read lines."""

        check_id, text = only()
        assert check_id == "ai_assistant.W107"
        assert text.startswith("Tool 'read_big' has changed: schema since 'tools.json'")
        with pytest.raises(CommandError, match="'read_big' has changed"):
            call_command("assistant_manifest", "--check")

    def test_new_and_gone(self, path):
        registry.remove_tool("boom")

        @ai_assistant.tool(effect="read")
        def brand_new() -> None:
            """Be new."""

        told = [message.msg for message in check_assistant()]
        assert told == [
            "Tool 'boom' is gone since 'tools.json'.",
            "Tool 'brand_new' is new since 'tools.json'.",
        ]

    def test_unreadable(self, assistant, only):
        assistant(TOOL_MANIFEST="/nowhere/tools.json")

        assert only()[0] == "ai_assistant.W106"

    def test_manifest_needs_a_path(self):
        with pytest.raises(CommandError, match="Give a path"):
            call_command("assistant_manifest")
