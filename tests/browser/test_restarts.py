"""What was begun before the server ended is there afterwards, once."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, sentence, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]
WORDS = 70


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    """Stories of which only a later telling ends: the others are always cut off."""
    for telling in (2, 3):
        never = {"op": "hold", "name": "never", "times": telling - 1}
        model.script(
            f"telling-{telling}",
            [
                [text("One look first."), call("echo", {"text": "a look"})],
                [{"op": "story", "tokens": WORDS, "rate": 30}, never],
            ],
        )


def story(tag: str, telling: int) -> str:
    """Ask for a story that ends in this telling."""
    return f"A story, please. [[script:telling-{telling}#{tag}]]"


def told(tag: str, telling: int) -> str:
    """Return one telling without white space; each word names its telling."""
    return "".join(sentence(f"{tag}/{telling}", WORDS, str(telling)).split())


def assert_one_story(panel: Panel, tag: str, telling: int) -> None:
    """There is one answer, and no word of another telling in it."""
    for again in ("as it grew", "as it is drawn"):
        if again == "as it is drawn":
            panel.page.reload()
        assert panel.asked() == [story(tag, telling)], again
        [answer] = panel.answers()
        assert [part.kind for part in answer.parts] == ["text", "tool", "text"]
        assert answer.parts[0].text.strip() == "One look first."
        assert answer.parts[1].status == "complete"
        assert "".join(answer.parts[2].text.split()) == told(tag, telling)
        assert panel.repeated_ids() == [], again


@pytest.mark.scenario(4)
def test_answer_and_approval_outlive_stops_and_kills_of_the_server(
    visit: Visit, own_server: OwnServer, subtests: pytest.Subtests
) -> None:
    server = own_server()
    visitor = visit(server)
    panel = visitor.panel()
    with subtests.test("an approval, on a page that is loaded after a kill"):
        approval_after_a_kill(panel, server)
    panel.new_conversation()
    with subtests.test("an approval, on a page from before the restart"):
        propose(panel)
        server.restart()
        panel.approve()
        assert_settled(panel)

    panel.new_conversation()
    with subtests.test("an answer that was stopped once"):
        answer_after_a_stop(panel, server)
    panel.ready()
    panel.new_conversation()
    with subtests.test("an answer that was killed twice"):
        answer_after_two_kills(panel, server)
    panel.ready()
    panel.new_conversation()
    with subtests.test("an answer whose page was closed before the kill"):
        panel.ask(story("away", 2))
        panel.wait_words(20)
        panel.page.close()
        server.kill()
        server.start()
        later = visitor.tab()
        later.goto("/admin/questionnaires/")
        later.wait_done()
        assert_one_story(later, "away", telling=2)
    assert Oracle(server.database_url).problems() == []


def propose(panel: Panel) -> None:
    panel.ask("[[script:approval]]")
    panel.wait_state("waiting-approval")


def assert_settled(panel: Panel) -> None:
    answer = panel.wait_done()
    assert panel.approval.count() == 0
    statuses = [part.status for part in answer.parts if part.kind == "tool"]
    assert statuses == ["complete"]
    assert answer.parts[-1].text.strip() == "That is settled."


def approval_after_a_kill(panel: Panel, server: DemoServer) -> None:
    propose(panel)
    server.kill()
    server.start()
    panel.reload()
    panel.approval.wait_for()
    assert panel.state == "waiting-approval"
    panel.approve()
    assert_settled(panel)


def answer_after_a_stop(panel: Panel, server: DemoServer) -> None:
    panel.ask(story("stop", 2))
    panel.wait_words(20)
    server.stop()
    panel.wait_state("offline")
    server.start()
    panel.wait_done()
    assert_one_story(panel, "stop", telling=2)


def answer_after_two_kills(panel: Panel, server: DemoServer) -> None:
    panel.ask(story("kill", 3))
    panel.wait_words(20)
    server.kill()
    server.start()
    panel.wait_text("2 ")  # a word of the second telling
    panel.wait_words(20)
    server.kill()
    server.start()
    panel.wait_done()
    assert_one_story(panel, "kill", telling=3)
