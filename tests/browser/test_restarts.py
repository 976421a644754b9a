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
WORDS = 90


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
    for _ in ("as it grew", "as it is drawn"):
        assert panel.asked() == [story(tag, telling)]
        [answer] = panel.answers()
        assert [part.kind for part in answer.parts] == ["text", "tool", "text"]
        assert answer.parts[0].text.strip() == "One look first."
        assert answer.parts[1].status == "complete"
        assert "".join(answer.parts[2].text.split()) == told(tag, telling)
        assert panel.repeated_ids() == []
        panel.page.reload()


class TestAnswer:
    @pytest.mark.scenario(4)
    def test_answer_is_whole_after_stop_or_kill_unseen(
        self, visit: Visit, own_server: OwnServer
    ) -> None:
        server = own_server()
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask(story("stop", 2))
        panel.wait_words(20)
        server.stop()
        panel.wait_state("offline")
        server.start()

        panel.wait_done()
        assert_one_story(panel, "stop", telling=2)
        assert Oracle(server.database_url).problems() == []

        # A page that is opened after a kill.
        panel.ready()
        panel.new_conversation()
        panel.ask(story("away", 2))
        panel.wait_words(20)
        panel.page.close()
        server.kill()
        server.start()
        later = visitor.tab()
        later.goto("/admin/questionnaires/")

        later.wait_done()
        assert_one_story(later, "away", telling=2)

    @pytest.mark.scenario(4)
    def test_answer_is_whole_after_kills(
        self, visit: Visit, own_server: OwnServer
    ) -> None:
        server = own_server()
        panel = visit(server).panel()
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
        assert Oracle(server.database_url).problems() == []


class TestApproval:
    def test_approval_works_after_restart_on_any_page(
        self, visit: Visit, own_server: OwnServer
    ) -> None:
        server = own_server()
        panel = visit(server).panel()
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        server.kill()
        server.start()
        panel.reload()
        panel.approval.wait_for()
        assert panel.state == "waiting-approval"
        panel.approve()

        answer = panel.wait_done()
        assert panel.approval.count() == 0
        assert [part.status for part in answer.parts if part.kind == "tool"] == [
            "complete"
        ]
        assert answer.parts[-1].text.strip() == "That is settled."

        # A page from before the restart.
        panel.new_conversation()
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        server.restart()
        panel.approve()

        answer = panel.wait_done()
        assert panel.approval.count() == 0
        assert answer.parts[-1].text.strip() == "That is settled."
