"""Twelve things that the panel does in each browser; `make browsers` runs them."""

from collections.abc import Iterator

import pytest

from tests.browser import scripts
from tests.browser.environment import ENV
from tests.browsers.window import Window, missing, wait, window
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

LIST = "/admin/questionnaires/questionnaire/"
STATE = "return document.getElementById('aia')?.dataset.state ?? ''"
LAST = """
  const all = document.querySelectorAll("#aia-log .aia-msg[data-role=assistant]");
  return all.length ? all[all.length - 1].textContent : "";
"""
ASKED = "return document.querySelectorAll('#aia-log .aia-msg[data-role=user]').length"
SUBMIT = "document.querySelector(arguments[0]).requestSubmit()"
BOX = """
  const box = document.querySelector(arguments[0]).getBoundingClientRect();
  return [box.left, box.right, innerWidth];
"""
ENTER = "\ue007"
ESCAPE = "\ue00c"
IDLE = ("idle", "complete", "done")


class Person:
    """Somebody who is signed in, with the panel open on the list of questionnaires."""

    def __init__(self, opened: Window, url: str) -> None:
        self.window = opened
        self.url = url

    def sign_in(self) -> None:
        self.window.goto(f"{self.url}/admin/login/?next={LIST}")
        self.window.find("[name=username]").send_keys("admin")
        self.window.find("[name=password]").send_keys("admin")
        self.window.find("#login-form [type=submit]").click()
        wait(lambda: self.window.find("#changelist"), "the list")

    def set_up(self, layout: str = "o=1&m=dock", language: str = "en") -> None:
        """Show the list with the panel as this cookie has it, without a conversation."""
        script = """
          document.cookie = `aia_ui=${arguments[0]};path=/`;
          document.cookie = `django_language=${arguments[1]};path=/`;
          sessionStorage.clear();
          localStorage.clear();
        """
        self.window.run(script, layout, language)
        self.window.goto(f"{self.url}{LIST}")
        self.listen()

    def listen(self) -> None:
        """Wait until the panel's script hears."""
        ready = "return Boolean(document.querySelector('#aia-input')?.offsetParent)"
        wait(lambda: self.window.run(ready), "an open panel")
        self.window.run("window.AIAssistant.open(); return 1")

    def ask(self, text: str) -> None:
        self.window.find("#aia-input").send_keys(text)
        self.window.find("#aia-send").click()

    def state(self) -> str:
        return str(self.window.run(STATE))

    def answer(self) -> str:
        return str(self.window.run(LAST))

    def wait_answer(self, text: str) -> None:
        wait(lambda: text in self.answer() and self.is_done(), f"an answer: {text}")

    def is_done(self) -> bool:
        return not self.window.run("return document.getElementById('aia').dataset.busy")


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, model_server: ModelServerProcess
) -> Iterator[DemoServer]:
    scripts.register(model_server)
    folder = tmp_path_factory.mktemp("browsers")
    with DemoServer(folder, model_url=model_server.url, env=ENV, forged=True) as demo:
        yield demo


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def browser(request: pytest.FixtureRequest, server: DemoServer) -> Iterator[Person]:
    if lacks := missing(request.param):
        pytest.skip(f"NOT CHECKED: {request.param}, the system lacks {lacks}")
    with window(request.param) as opened:
        person = Person(opened, server.url)
        person.sign_in()
        yield person


@pytest.fixture
def person(browser: Person) -> Person:
    browser.set_up()
    return browser


def test_send(person: Person) -> None:
    person.ask("Hello")

    person.wait_answer("Hello")
    assert person.window.run(ASKED) == 1


def test_stream(person: Person) -> None:
    person.ask("[[script:report]]")

    wait(lambda: person.state() == "streaming" and "found" in person.answer(), "words")
    assert "the report ends here" not in person.answer()
    person.wait_answer("the report ends here")


def test_stop(person: Person) -> None:
    person.ask("[[script:lasting]]")
    wait(lambda: "It takes" in person.answer(), "some words")

    person.window.find("#aia-stop").click()

    wait(lambda: person.state() == "stopped", "the end")
    assert "It takes" in person.answer()


def test_approve(person: Person) -> None:
    person.ask("[[script:approval]]")
    wait(lambda: person.window.find("#aia-pinned [data-aia-approve]"), "a card")

    person.window.find("#aia-pinned [data-aia-approve]").click()

    person.wait_answer("That is settled.")


def test_queue(person: Person) -> None:
    person.ask("[[script:report]]")
    wait(lambda: person.state() == "streaming", "words")

    person.window.find("#aia-input").send_keys("And this one next", ENTER)

    wait(lambda: person.window.find("#aia-queue .aia-queued"), "a place in the queue")
    wait(lambda: person.window.run(ASKED) == 2 and person.is_done(), "its turn")


def test_float(person: Person) -> None:
    person.window.find("#aia-mode").click()
    wait(
        lambda: person.window.run(BOX, "#aia")[1] < person.window.run(BOX, "#aia")[2],
        "it",
    )

    person.window.goto(f"{person.url}/admin/")

    left, right, width = person.window.run(BOX, "#aia")
    assert 0 < left < right < width


def test_keyboard(person: Person) -> None:
    person.window.find("#aia-input").send_keys("By keys", ENTER)
    person.wait_answer("By keys")

    person.window.find("#aia-input").send_keys(ESCAPE)
    focused = "return document.activeElement.id"
    wait(lambda: person.window.run(focused) == "aia-scroll", "the focus")
    person.window.find("#aia-scroll").send_keys("?")

    wait(lambda: person.window.find("#aia-map[open]"), "the keyboard map")


def test_right_to_left(person: Person) -> None:
    person.set_up(language="ar")

    assert person.window.run("return document.documentElement.dir") == "rtl"
    assert person.window.run(BOX, "#aia")[0] == 0
    person.ask("مرحبا")
    person.wait_answer("مرحبا")


def test_reload(person: Person) -> None:
    person.ask("[[script:report]]")
    wait(lambda: "found" in person.answer(), "some words")

    person.window.goto(f"{person.url}/admin/")

    person.wait_answer("the report ends here")


def test_two_tabs(person: Person) -> None:
    person.ask("[[script:report]]")
    wait(lambda: "found" in person.answer(), "some words")

    person.window.open_tab()
    person.window.goto(f"{person.url}/admin/")

    person.wait_answer("the report ends here")
    person.window.show_tab(0)
    person.wait_answer("the report ends here")


class TestFirefox:
    """What WebKitGTK has no switch for."""

    @pytest.fixture(autouse=True)
    def _there(self) -> None:
        if lacks := missing("firefox"):
            pytest.skip(f"NOT CHECKED: firefox, the system lacks {lacks}")

    def test_forced_colours(self, server: DemoServer) -> None:
        forced = {"browser.display.document_color_use": 2}
        with window("firefox", **forced) as opened:
            person = Person(opened, server.url)
            person.sign_in()
            person.set_up()
            script = "return matchMedia('(forced-colors: active)').matches"
            assert opened.run(script)
            person.ask("Hello")
            person.wait_answer("Hello")

    def test_no_script(self, server: DemoServer) -> None:
        with window("firefox", **{"javascript.enabled": False}) as opened:
            person = Person(opened, server.url)
            person.sign_in()
            opened.find("[data-aia-open]").click()
            wait(lambda: opened.find("#aia-input"), "the panel")

            person.ask("Hello")

            def is_answered() -> bool:
                opened.goto(f"{server.url}/assistant/")
                return "Hello" in opened.find("#aia-log [data-role=assistant]").text

            wait(is_answered, "an answer on the page")
