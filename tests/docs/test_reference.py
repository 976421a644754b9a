"""What the code has, the pages tell: every name has its place."""

import ast
import inspect
import re

import pytest
from django.apps import apps

from ai_assistant import __version__
from ai_assistant.conf import DEFAULTS, flat
from ai_assistant.decorators import ToolOptions, tool
from ai_assistant.models.call import CallStatus
from ai_assistant.models.run import RunState
from ai_assistant.registry import registry
from ai_assistant.render.html.transcript.state import WORDS
from ai_assistant.types import RunContext
from tests.docs.blocks import ROOT, page, section
from tests.docs.site import BUILT_IN

APP = "ai_assistant"
CHECK_ID = re.compile(r'"(ai_assistant\.[EIW]\d{3})"')
DOCTOR_ID = re.compile(r'"(doctor\.\w+)"')
ROW = re.compile(r"^\| `([^`]+)` \|(.+)\|$", re.MULTILINE)
# As docs/settings.md writes them: LIMITS["STEPS"]
SETTINGS = {
    group + "".join(f'["{name}"]' for name in names): default
    for (group, *names), default in flat(DEFAULTS)
}
SETTING = re.compile(
    r"^\| `(?P<name>[^`]+)` \| (?P<type>[\w ]+) \| `(?P<default>.+)` \| \S.+ \|$",
    re.MULTILINE,
)

# What others rely on; whoever changes one of these changes the page too.
MAKE = ("run", "test", "docs", "bench", "faults", "shots", "rows")
HOOKS = (
    "#aia",
    "data-open",
    "data-state",
    "data-conversation",
    "data-run",
    "data-seq",
    "data-readonly",
    "[data-aia-open]",
    "#aia-form",
    "#aia-input",
    "#aia-send",
    "#aia-stop",
    "#aia-log",
    ".aia-msg[data-role=user]",
    ".aia-msg[data-role=assistant][data-run-id]",
    "aria-busy",
    ".aia-body[data-message-id]",
    ".aia-tool[data-tool][data-status]",
    ".aia-reasoning",
    "#aia-pinned .aia-approval",
    "[data-aia-approve]",
    "[data-aia-deny]",
    ".aia-diff",
    "#aia-pinned .aia-question",
    '[data-aia-ask="text"]',
    ".aia-changes [data-aia-undo]",
    "#aia-context",
    "#aia-banner",
    "#aia-say",
    "#aia-alert",
    "window.AIAssistant",
)


def sources(folder, suffix="py"):
    files = (ROOT / folder).rglob(f"*.{suffix}")
    return "\n".join(file.read_text() for file in files)


def names_of(name):
    return [first for first, _ in ROW.findall(page(name))]


def names_of_section(heading):
    """Return the first names of the rows below a heading of the architecture."""
    _, found, rest = page("docs/architecture.md").partition(f"# {heading}\n")
    assert found, heading
    return [first for first, _ in ROW.findall(rest.partition("\n#")[0])]


class TestSettings:
    def test_every_one_has_its_row(self):
        rows = [row["name"] for row in SETTING.finditer(page("docs/settings.md"))]

        assert sorted(rows) == sorted(SETTINGS)

    @pytest.mark.parametrize("name", SETTINGS)
    def test_row_tells_type_and_default(self, name):
        rows = {row["name"]: row for row in SETTING.finditer(page("docs/settings.md"))}

        default = SETTINGS[name]
        kind = "float or None" if default is None else type(default).__name__
        assert ast.literal_eval(rows[name]["default"]) == default
        assert rows[name]["type"] == kind


class TestChecks:
    def test_every_id_has_its_row(self):
        ids = set(CHECK_ID.findall(sources("ai_assistant/checks")))
        ids |= set(DOCTOR_ID.findall(sources("ai_assistant/management")))

        assert sorted(names_of("docs/checks.md")) == sorted(ids)


class TestTools:
    def test_every_argument_has_its_row(self):
        own = set(inspect.signature(tool).parameters) - {"options"}
        arguments = own | set(ToolOptions.__annotations__)

        told = {*names_of("docs/tools.md"), *names_of("docs/tool-cards.md")}
        assert {"effect", "replace", "icon"} <= arguments <= told

    @pytest.mark.parametrize(
        "name",
        sorted({*RunContext.__slots__, "page_path"} - {"actions"}),
    )
    def test_context_is_told(self, name):
        assert f"`{name}`" in page("docs/tools.md")

    @pytest.mark.parametrize(
        "name",
        [
            one
            for one in vars(RunContext)
            if inspect.isfunction(vars(RunContext)[one]) and one[0] != "_"
        ],
    )
    def test_method_of_the_context_is_told(self, name):
        assert f"`{name}(" in page("docs/tools.md")


class TestCommands:
    @pytest.mark.parametrize("target", MAKE)
    def test_make_has_it_and_the_page_tells_it(self, target):
        assert re.search(rf"^{target}:.*## ", page("Makefile"), re.MULTILINE)
        assert f"| `make {target}` |" in page("docs/commands.md")

    def test_every_command_of_a_site(self):
        folder = ROOT / "ai_assistant/management/commands"
        commands = {file.stem for file in folder.glob("[a-z]*.py")}

        told = re.findall(
            r"^\| `python manage.py (\w+)", page("docs/commands.md"), re.M
        )
        assert set(told) == commands

    def test_every_variable_of_the_demo(self):
        read = re.findall(
            r'(?:environ\.get|flag|_ENV":) ?\(?"([A-Z_]+)"', sources("project")
        )

        told = page("docs/commands.md")
        assert not [name for name in read if f"`{name}`" not in told]
        assert {"ASSISTANT_MODEL", "ASSISTANT_API_KEY", "PORT"} <= set(read)


class TestAddresses:
    def test_every_one_has_its_row(self):
        routes = re.findall(
            r'path\("(.*)", .*name="(\w+)"', page("ai_assistant/urls.py")
        )

        rows = page("docs/commands.md")
        assert len(routes) > 5
        for path, name in routes:
            assert f"| `/assistant/{path}` | `{name}` |" in rows


class TestPageHooks:
    @pytest.mark.parametrize("hook", HOOKS)
    def test_every_page_hook_is_documented(self, hook):
        assert hook in page("docs/commands.md")

    @pytest.mark.parametrize(
        "name", re.findall(r"#(aia-[a-z-]+)", page("docs/commands.md"))
    )
    def test_id_is_in_a_template(self, name):
        assert f'id="{name}"' in sources("ai_assistant/templates", "html")

    @pytest.mark.parametrize("word", sorted({*WORDS.values(), "streaming", "stopping"}))
    def test_state_is_told(self, word):
        assert f"`{word}`" in page("docs/commands.md")

    @pytest.mark.parametrize("status", CallStatus.values)
    def test_status_is_told(self, status):
        assert f"`{status}`" in page("docs/commands.md")

    @pytest.mark.parametrize("call", ["open", "close", "send", "on"])
    def test_call_is_there_and_told(self, call):
        assert re.search(
            rf"\b{call}[:(]", page("ai_assistant/static/ai_assistant/boot.js")
        )
        assert f"`{call}(" in page("docs/commands.md")


@pytest.mark.row("E07")
class TestArchitecture:
    def test_architecture_has_the_sequence_and_the_states(self):
        text = page("docs/architecture.md")

        assert re.findall(r"```mermaid\n(\w+)", text) == [
            "sequenceDiagram",
            "stateDiagram",
        ]

    def test_names_files_that_are_there(self):
        text = page("docs/architecture.md")
        files = re.findall(r"`((?:engine|web|render)/[\w/]+\.py)`", text)

        assert files
        assert not [f for f in files if not (ROOT / "ai_assistant" / f).is_file()]

    def test_names_packages_that_are_there(self):
        table = section(page("docs/architecture.md"), "Components")
        rows = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
        names = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]

        for name in names:
            path = ROOT / "ai_assistant" / name.replace(".", "/")
            assert path.is_dir() or path.with_suffix(".py").is_file(), name

    def test_architecture_names_every_state_once_and_no_other(self):
        rows = names_of_section("States")

        assert sorted(rows) == sorted(RunState.values)

    def test_architecture_names_every_table_once_and_no_other(self):
        tables = [model.__name__ for model in apps.get_app_config(APP).get_models()]

        assert sorted(names_of_section("Tables")) == sorted(tables)


class TestChangelog:
    def test_first_version_is_that_of_the_package(self):
        versions = re.findall(r"^## (\d+\.\d+\.\d+)", page("docs/changelog.md"), re.M)

        assert versions[0] == __version__
        numbers = [[int(part) for part in one.split(".")] for one in versions]
        assert numbers == sorted(numbers, reverse=True)

    def test_changelog_says_what_is_public_and_when_it_may_go(self):
        rule = section(page("docs/changelog.md"), "How versions work")

        assert "**deprecated**" in rule
        assert "api.md" in rule


def test_built_in_tools_are_those_that_the_tests_of_a_new_site_know():
    """Those run seldom: a new tool is noticed here."""
    every = registry.tools()
    built_in = {name for name, one in every.items() if one.origin.startswith(f"{APP}.")}

    assert built_in == BUILT_IN
