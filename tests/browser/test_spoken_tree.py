"""What a screen reader is given: the accessibility tree of Chromium, for five acts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import CDPSession, expect

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text

LIST = "/admin/questionnaires/questionnaire/"
RICH = f"""\
See [one]({LIST}2/change/), [two]({LIST}3/change/) and [all]({LIST}).

```python
print("a block with a button")
```
"""
SECTION = "questionnaires.section"
# Which stops of Tab lie within the last answer, going back from the composer.
ROVES = """() => performance.getEntriesByType("resource")
  .some(({ name, responseEnd }) => name.includes("roving") && responseEnd)"""
STOPS = """() => {
  const { activeElement } = document;
  const last = [...document.querySelectorAll("#aia-log > .aia-msg")].at(-1);
  return last.contains(activeElement);
}"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node of the tree that is not ignored."""

    role: str
    name: str
    described: str
    is_focusable: bool
    is_focused: bool
    expanded: bool | None


class Tree:
    """The accessibility tree of a page, as Chromium gives it to assistive software."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel
        self._tab: CDPSession = panel.page.context.new_cdp_session(panel.page)
        self._tab.send("Accessibility.enable")

    def nodes(self) -> list[Node]:
        """Return the nodes of the panel, in the order of the tree."""
        found = self._tab.send("Accessibility.getFullAXTree")["nodes"]
        by_id = {one["nodeId"]: one for one in found}
        (top,) = (
            one
            for one in found
            if _role(one) == "complementary" and _name(one) == "Assistant"
        )
        return [_node(one) for one in _below(top, by_id) if not one["ignored"]]

    def named(self, role: str) -> list[str]:
        return [one.name for one in self.nodes() if one.role == role]

    def focused(self) -> Node:
        """Return the node with the focus; that of the page around it is not it."""
        (found,) = (one for one in self.nodes() if one.is_focused)
        return found

    def check(self) -> None:
        """Check what must hold always: what can be reached has a role and a name."""
        reached = [one for one in self.nodes() if one.is_focusable]
        assert [one for one in reached if not one.name.strip()] == []
        assert [one for one in reached if one.role in ("generic", "none")] == []
        logs = [one for one in self.nodes() if one.role == "log"]
        assert len(logs) == 1


def _role(node: dict[str, Any]) -> str:
    return str(node.get("role", {}).get("value", ""))


def _name(node: dict[str, Any]) -> str:
    return str(node.get("name", {}).get("value", ""))


def _below(node: dict[str, Any], by_id: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("childIds", ()):
        if child in by_id:
            yield from _below(by_id[child], by_id)


def _node(node: dict[str, Any]) -> Node:
    said = {one["name"]: one["value"].get("value") for one in node["properties"]}
    return Node(
        role=_role(node),
        name=_name(node),
        described=str(node.get("description", {}).get("value", "")),
        is_focusable=bool(said.get("focusable")),
        is_focused=bool(said.get("focused")),
        expanded=said.get("expanded"),
    )


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    model.script("rich", [[text(RICH)]])


@pytest.fixture
def propose(panel: Panel, model: ModelServerProcess) -> Callable[[str], None]:
    """Let the assistant propose another title for a section."""

    def do(title: str) -> None:
        values = {"model": SECTION, "ids": [3], "values": {"title": title}}
        steps = [[call("change_objects", values)], [text("That is settled.")]]
        model.script("spoken", steps)
        panel.ask("[[script:spoken]]")
        panel.wait_state("waiting-approval")
        panel.approval.wait_for()

    return do


@pytest.fixture
def tree(panel: Panel) -> Tree:
    return Tree(panel)


class TestAsk:
    def test_answer_is_an_article_reached_by_few_keys_and_the_list_names_its_menus(
        self, panel: Panel, tree: Tree, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("answer"):
            self.answer_is_reached_by_few_keys(panel, tree)
        with subtests.test("list"):
            self.list_names_its_menus(panel, tree)

    def answer_is_reached_by_few_keys(self, panel: Panel, tree: Tree) -> None:
        panel.ask_and_wait("A matter for the list [[script:rich]]")
        tree.check()
        headings = tree.named("heading")

        assert tree.named("article")[0].startswith("You")
        assert tree.named("article")[1].startswith("Assistant")
        assert any(one.startswith("Assistant") for one in headings)
        assert {"one", "two", "all"} <= set(tree.named("link"))
        assert tree.named("toolbar") == ["Answer"]
        assert tree.focused().name == "Message"  # not on the button that went

        # Tab stops twice at most, once the script has come that the first key fetches,
        panel.input.focus()
        panel.page.keyboard.press("Shift")
        panel.page.wait_for_function(ROVES)
        for _ in range(30):
            panel.page.keyboard.press("Shift+Tab")
            if panel.page.evaluate(STOPS):
                break
        stops = 0
        while panel.page.evaluate(STOPS):
            stops += 1
            panel.page.keyboard.press("Shift+Tab")
        assert 1 <= stops <= 2

        # and arrows reach what it passes.
        panel.input.focus()
        while tree_name(panel) != "one":
            panel.page.keyboard.press("Shift+Tab")
        seen = [tree_name(panel)]
        for _ in range(3):
            panel.page.keyboard.press("ArrowDown")
            seen.append(tree_name(panel))
        while not panel.page.evaluate(
            "!!document.activeElement.closest('[role=toolbar]')"
        ):
            panel.page.keyboard.press("Tab")
        bar = [tree.focused().name]
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            panel.page.keyboard.press(key)
            bar.append(tree.focused().name)

        assert seen[:3] == ["one", "two", "all"]
        assert bar == ["Copy", "Regenerate", "Good answer", "Regenerate"]

    def list_names_its_menus(self, panel: Panel, tree: Tree) -> None:
        opener = "Conversations"

        def is_expanded() -> list[bool | None]:
            nodes = [one for one in tree.nodes() if one.role == "link"]
            return [one.expanded for one in nodes if one.name == opener]

        assert is_expanded() == [False]
        panel.list_conversations()
        tree.check()

        assert is_expanded() == [True]
        assert tree.named("navigation") == [opener]
        menus = [one for one in tree.named("button") if one.startswith("More for")]
        assert any("A matter for the list" in one for one in menus)


def tree_name(panel: Panel) -> str:
    return str(panel.page.evaluate("document.activeElement.textContent.trim()"))


class TestApprove:
    def test_card_plan_fields_and_their_ends_lead_back(
        self,
        panel: Panel,
        tree: Tree,
        propose: Callable[[str], None],
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("card and plan"):
            self.card_and_plan_lead_back(panel, tree, propose)
        panel.new_conversation()
        with subtests.test("fields of an edit"):
            self.fields_of_an_edit_have_names(panel, tree, propose)

    def card_and_plan_lead_back(
        self, panel: Panel, tree: Tree, propose: Callable[[str], None]
    ) -> None:
        propose("Spoken 1")
        tree.check()
        panel.wait(
            lambda: "asks for your approval" in " ".join(alerts(panel)), "the alert"
        )
        assert tree.focused().name == "Message"
        panel.page.keyboard.press("Alt+a")
        # The first key fetches the script that knows it.
        panel.wait(lambda: tree.focused().role == "region", "the card in focus")
        assert tree.focused().name
        assert any(one.startswith("Approve") for one in tree.named("button"))
        panel.page.locator("[data-aia-approve]").focus()
        panel.page.keyboard.press("Enter")
        panel.wait_done()

        assert tree.focused().name == "Message"
        tree.check()

        undo = panel.page.locator("#aia-log [data-aia-undo]").last
        undo.focus()
        panel.page.keyboard.press("Enter")
        plan = panel.page.locator("#aia-pinned .aia-undo-plan")
        plan.wait_for()
        tree.check()
        assert tree.focused().role != "RootWebArea"
        plan.get_by_role("button").first.focus()
        panel.page.keyboard.press("Enter")
        expect(plan).to_have_count(0)

        tree.check()
        assert panel.page.evaluate(
            "document.getElementById('aia').contains(document.activeElement)"
        )

    def fields_of_an_edit_have_names(
        self, panel: Panel, tree: Tree, propose: Callable[[str], None]
    ) -> None:
        propose("Spoken 2")
        panel.edit().wait_for()
        tree.check()
        fields = tree.named("textbox")

        assert "Title" in fields
        panel.edit_field("title").fill("Spoken twice")
        panel.edit_field("title").press("Enter")
        panel.wait_done()  # to save them is to approve

        assert tree.focused().name in ("Message", "Conversation")
        tree.check()


def alerts(panel: Panel) -> list[str]:
    return panel.page.locator("#aia-alert").all_text_contents()
