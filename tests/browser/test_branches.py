"""Versions of a question and of its answer: kept, picked, asked for, in all tabs."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Locator

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
TOLD = "[[script:told]]"


@pytest.fixture(autouse=True)
def told(model: ModelServerProcess) -> None:
    """A text that says how often it was asked for in the same conversation."""
    model.clear()  # another test may have asked with the same words
    model.script("told", [[text("This is telling {telling}.")]])


def press(panel: Panel, name: str, at: int = -1) -> None:
    """Press a button or a link of this name; the last of them, if not said."""
    found = panel.log.get_by_role("link", name=name, exact=True)
    found = found.or_(panel.log.get_by_role("button", name=name, exact=True))
    found.first.wait_for()
    (found.last if at < 0 else found.nth(at)).click()


def anew(panel: Panel, how: str = "Another answer", at: int = -1) -> None:
    press(panel, "Regenerate", at)
    press(panel, how)


def form(panel: Panel) -> Locator:
    return panel.log.get_by_role("textbox", name="Message")


def shown(panel: Panel) -> list[str]:
    return [
        part.strip()
        for part in panel.log.locator(".aia-text, .aia-b").all_inner_texts()
    ]


def wait_shown(panel: Panel, *texts: str) -> None:
    panel.wait(lambda: shown(panel) == list(texts), f"{texts}")
    panel.wait_state("idle")


def picker(panel: Panel) -> str:
    versions = panel.log.get_by_role("group", name="Versions")
    return versions.last.locator("span[aria-hidden]").inner_text()


class TestAnew:
    @pytest.mark.row("ui 77")
    def test_another_answer_keeps_the_old_one_and_the_picker_leads_back(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        panel.ask_and_wait(f"One {TOLD}")
        panel.ask_and_wait(f"Two {TOLD}")
        with subtests.test("the old one is kept, and reached by the picker"):
            self.old_one_is_kept(panel, model)
        with subtests.test("of an earlier answer the later ones go along"):
            self.later_ones_go_along(panel)
        panel.new_conversation()
        model.clear()
        with subtests.test("by keys alone"):
            self.anew_by_keys_alone(panel)
        panel.new_conversation()
        model.clear()
        with subtests.test("shorter, then for the page that is open instead"):
            self.shorter_and_for_another_page(panel, model)

    def old_one_is_kept(self, panel: Panel, model: ModelServerProcess) -> None:
        model.clear()
        anew(panel)
        panel.wait(lambda: picker(panel) == "2 / 2", "two versions")
        panel.wait_done(2)
        first = [f"One {TOLD}", "This is telling 1."]

        # The model was told of the path, and of nothing that stands beside it.
        (request,) = model.requests()
        said = [m["content"] for m in request["messages"] if m["role"] != "system"]
        assert said == [*first, f"Two {TOLD}"]
        fresh = panel.answer().run
        press(panel, "Previous version")
        panel.wait(lambda: picker(panel) == "1 / 2", "the first version")
        old = panel.answer().run
        assert old != fresh
        assert len(panel.answers()) == 2
        panel.reload()
        assert panel.answer().run == old
        assert picker(panel) == "1 / 2"
        press(panel, "Next version")
        panel.wait(lambda: panel.answer().run == fresh, "the second version")
        assert panel.repeated_ids() == []

    def later_ones_go_along(self, panel: Panel) -> None:
        panel.log.locator(".aia-msg").nth(1).hover()
        anew(panel, at=0)
        panel.wait(lambda: len(panel.answers()) == 1, "the later answer is away")
        panel.wait_done()
        assert panel.asked() == [f"One {TOLD}"]
        press(panel, "Previous version")
        panel.wait(lambda: len(panel.answers()) == 2, "both are back")

    def shorter_and_for_another_page(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask_and_wait(TOLD)
        model.clear()
        anew(panel, "Shorter")
        panel.wait(lambda: picker(panel) == "2 / 2", "two versions")
        panel.wait_done()
        assert "wants a shorter one" in model.requests()[0]["messages"][0]["content"]

        asked_on = panel.log.get_by_text("Asked on")
        panel.click_to("Questionnaires")
        asked_on.wait_for()
        model.clear()
        press(panel, "Use this page instead")
        press(panel, "For this page")
        panel.wait(lambda: picker(panel) == "3 / 3", "another version")
        panel.wait_done()
        (request,) = model.requests()
        assert '"action": "app_list"' in request["messages"][0]["content"]
        assert asked_on.count() == 0
        press(panel, "Previous version")
        asked_on.wait_for()

    def anew_by_keys_alone(self, panel: Panel) -> None:
        panel.ask_and_wait(TOLD)
        link = panel.log.get_by_role("link", name="Regenerate")
        link.focus()
        panel.page.keyboard.press("Enter")
        button = panel.log.get_by_role("button", name="Another answer")
        button.wait_for()
        panel.wait(lambda: button.evaluate("node => node === document.activeElement"))
        panel.page.keyboard.press("Escape")
        assert not button.is_visible()
        assert link.evaluate("node => node === document.activeElement")
        panel.page.keyboard.press("Enter")
        button.wait_for()
        panel.wait(lambda: button.evaluate("node => node === document.activeElement"))
        panel.page.keyboard.press("Enter")
        panel.wait(lambda: picker(panel) == "2 / 2", "two versions")
        panel.wait_done()
        previous = panel.log.get_by_role("button", name="Previous version")
        previous.focus()
        panel.page.keyboard.press("Enter")
        panel.wait(lambda: picker(panel) == "1 / 2", "the first version")

        # It is the first: there is none before it, and the focus is not lost.
        assert previous.evaluate("node => node === document.activeElement")
        assert previous.get_attribute("aria-disabled") == "true"
        said = panel.page.locator("#aia-say")
        panel.wait(
            lambda: said.inner_text() == "Version 1 of 2 is shown.", "it is said"
        )


class TestEdit:
    @pytest.mark.smoke
    @pytest.mark.scenario(35)
    def test_edit_asks_in_the_place_of_the_old_one(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        panel.ask_and_wait(f"One {TOLD}")
        panel.ask_and_wait(f"Two {TOLD}")
        with subtests.test("Up in the empty composer begins it, nothing is lost"):
            self.up_begins_it(panel)
        with subtests.test("input methods are left alone"):
            self.input_methods_are_left_alone(panel)
        with subtests.test("it asks in the place of the old one"):
            self.asks_in_its_place(panel, model)

    def up_begins_it(self, panel: Panel) -> None:
        panel.input.press("ArrowUp")
        form(panel).wait_for()
        assert form(panel).input_value() == f"Two {TOLD}"
        form(panel).fill("not to be lost")
        form(panel).press("Escape")
        assert form(panel).count() == 0
        panel.input.press("ArrowUp")
        form(panel).wait_for()
        assert form(panel).input_value() == "not to be lost"

    def input_methods_are_left_alone(self, panel: Panel) -> None:
        form(panel).fill("日本")
        for how in ("isComposing: true", "keyCode: 229"):
            form(panel).evaluate(
                "field => field.dispatchEvent(new KeyboardEvent('keydown', "
                f"{{key: 'Enter', bubbles: true, cancelable: true, {how}}}))"
            )
        panel.page.wait_for_timeout(200)
        assert form(panel).input_value() == "日本"
        assert panel.asked() == [f"One {TOLD}", f"Two {TOLD}"]

    def asks_in_its_place(self, panel: Panel, model: ModelServerProcess) -> None:
        model.clear()
        form(panel).fill(f"Rather this {TOLD}")
        form(panel).press("Shift+Enter")
        form(panel).press("Backspace")
        form(panel).press("Enter")
        panel.wait(lambda: panel.asked()[-1:] == [f"Rather this {TOLD}"], "the edit")
        panel.wait_done(2)
        assert form(panel).count() == 0
        (request,) = model.requests()
        assert [m["content"] for m in request["messages"] if m["role"] == "user"] == [
            f"One {TOLD}",
            f"Rather this {TOLD}",
        ]
        press(panel, "Previous version")
        panel.wait(lambda: panel.asked()[-1] == f"Two {TOLD}", "the old one")


class TestTabs:
    @pytest.mark.scenario(9)
    def test_switching_shows_in_the_other_tab_and_an_edit_waits_for_its_answer(
        self, regular: Visitor, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        here, there = panel, regular.tab()
        here.ask_and_wait(f"One {TOLD}")
        there.goto()
        with subtests.test("switching shows in the other one"):
            self.switching_shows(here, there)
        with subtests.test("an edit while the other's answer is under way is kept"):
            self.edit_is_kept(here, there)

    def switching_shows(self, here: Panel, there: Panel) -> None:
        anew(here)
        here.wait(lambda: picker(here) == "2 / 2", "two versions")
        here.wait_done()
        there.wait(lambda: there.answer().run == here.answer().run, "the same answer")
        press(there, "Previous version")
        here.wait(lambda: picker(here) == "1 / 2", "the first version")
        here.wait(lambda: here.answer().run == there.answer().run, "it is in both")
        here.ask_and_wait(f"And then? {TOLD}")
        there.wait(lambda: len(there.answers()) == 2, "the next answer")
        there.wait(lambda: there.asked() == here.asked(), "the same questions")

    def edit_is_kept(self, here: Panel, there: Panel) -> None:
        press(here, "Edit the message")
        form(here).wait_for()
        form(here).fill("keep me")
        there.ask("[[script:stream tokens=4000 rate=20]]")
        here.wait(lambda: len(here.answers()) == 3, "the other's answer")
        form(here).press("Enter")
        here.root.get_by_text("The assistant is still working.").wait_for()
        assert form(here).input_value() == "keep me"
        there.stop()
        there.wait_state("stopped")


class TestWithoutScript:
    def test_all_of_it_works(self, visit: Visit, server: DemoServer) -> None:
        plain = visit(server, java_script_enabled=False).tab()
        plain.goto("/assistant/")
        with plain.page.expect_navigation():
            plain.ask(f"One {TOLD}")
        self.wait_ended(plain)
        plain.page.get_by_role("link", name="Edit the message").click()
        plain.page.get_by_role("textbox", name="Message").fill(f"Rather {TOLD}")
        with plain.page.expect_navigation():
            plain.page.get_by_role("button", name="Send").click()
        self.wait_ended(plain)
        assert "Rather" in plain.log.inner_text()
        assert "One" not in plain.log.inner_text()
        with plain.page.expect_navigation():
            plain.page.get_by_role("button", name="Previous version").click()
        assert "One" in plain.log.inner_text()
        plain.page.get_by_role("link", name="Regenerate").click()
        with plain.page.expect_navigation():
            plain.page.get_by_role("button", name="Shorter").click()
        self.wait_ended(plain)

        assert "3 / 3" in plain.log.inner_text()

    def wait_ended(self, plain: Panel) -> None:
        def is_there() -> bool:
            with suppress(Error):
                plain.page.reload()
            return plain.state == "idle"

        plain.wait(is_there, "the answer")
