"""A new tool, made by the command, is one that works."""

import runpy
from io import StringIO
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

import ai_assistant
from ai_assistant.checks.tools import check_tools
from ai_assistant.registry import registry

pytestmark = pytest.mark.row("T20")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """The folder of an app with the label `shop`."""
    own = apps.get_app_config("auth")
    app = SimpleNamespace(
        path=str(tmp_path), name="mysite.shop", label="auth", get_models=own.get_models
    )
    found = {"shop": app}
    monkeypatch.setattr(apps, "get_app_config", lambda label: found[label])
    return tmp_path


def make(*arguments):
    out = StringIO()
    call_command("startassistanttool", "shop", *arguments, stdout=out)
    return out.getvalue()


def registered(path):
    """Return the tools of a file as autodiscovery would register them."""
    with registry.restored():
        before = set(registry.tools())
        runpy.run_path(str(path))
        faults = [one.msg for one in check_tools() if "<run_path>" in one.msg]
        news = {name: registry.tool(name) for name in {*registry.tools()} - before}
    return news, faults


@pytest.mark.parametrize(
    ("given", "effect", "permission"),
    [
        ((), "read", "auth.view_permission"),
        (("--effect", "write"), "write", "auth.change_permission"),
    ],
)
def test_makes_the_file(shop, given, effect, permission):
    said = make("count_orders", *given)

    tools, faults = registered(shop / "assistant.py")
    made = tools["count_orders"]
    assert (made.effect, made.permission, faults) == (effect, permission, [])
    assert str(shop / "assistant.py") in said


def test_appends_to_what_is_there(shop):
    path = shop / "assistant.py"
    path.write_text('"""Ours."""\nfrom __future__ import annotations\n\nKEPT = 1')

    make("count_orders")
    make("count_customers")

    text = path.read_text()
    assert set(registered(path)[0]) == {"count_orders", "count_customers"}
    assert text.startswith('"""Ours."""\nfrom __future__ import annotations\nimport ai')
    assert text.count("import ai_assistant\n") == 1
    assert "KEPT = 1\n\n\n@ai_assistant.tool" in text


@pytest.mark.parametrize("before", ["# Ours", '"""Ours."""', "import os", "\n"])
def test_file_without_our_import(shop, before):
    path = shop / "assistant.py"
    path.write_text(before)

    make("count_orders")

    assert set(registered(path)[0]) == {"count_orders"}
    assert before.strip() in path.read_text()


def test_its_test_passes_as_it_is(shop):
    make("count_orders")

    text = (shop / "test_count_orders.py").read_text()
    own = text.replace("from mysite.shop import assistant", "")
    with registry.restored():
        functions = runpy.run_path(str(shop / "assistant.py"))
        names = {
            "assistant": SimpleNamespace(**functions),
            "ai_assistant": ai_assistant,
        }
        exec(own, names)  # noqa: S102 - what the command has written
    case = names["CountOrdersTests"]("test_returns_the_text")

    assert case.run().wasSuccessful()
    assert own != text


def test_test_goes_to_the_folder_of_tests(shop):
    (shop / "tests").mkdir()

    make("count_orders")

    assert (shop / "tests" / "test_count_orders.py").exists()


@pytest.mark.parametrize(
    ("name", "before", "said"),
    [
        ("ask_user", "", "Tool 'ask_user' already exists"),
        ("count", "def count(): ...\n", "has a 'count' already"),
        ("count", "def count(:\n", "line 1, is not Python"),
        ("two words", "", "is not a valid tool name"),
        ("class", "", "is not a valid tool name"),
    ],
)
def test_refuses_and_writes_nothing(shop, name, before, said):
    path = shop / "assistant.py"
    path.write_text(before)

    with pytest.raises(CommandError, match=said):
        make(name)

    assert path.read_text() == before
    assert [one.name for one in shop.iterdir()] == ["assistant.py"]


def test_keeps_a_test_that_is_there(shop):
    (shop / "test_count.py").write_text("mine")

    with pytest.raises(CommandError, match="already exists"):
        make("count")

    assert (shop / "test_count.py").read_text() == "mine"
    assert not (shop / "assistant.py").exists()


def test_app_that_is_not_installed():
    with pytest.raises(CommandError, match="No installed app with label 'nowhere'"):
        call_command("startassistanttool", "nowhere", "count")
