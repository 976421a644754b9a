"""A preview is code of the site: one that hangs costs few threads."""

import threading

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.values import Changes, ObjectChange
from ai_assistant.engine.calls import preview
from ai_assistant.safety.bulkhead import HANGING
from ai_assistant.testing import call, reply
from tests.engine.conftest import statuses

pytestmark = pytest.mark.django_db(transaction=True)

GAVE_UP = "“Send” timed out after 1 s."
HANGS = "The preview of “Send” hangs, and is not called until it returns."


class Stubborn:
    """Something that goes on when it is let go; `begun` counts."""

    def __init__(self):
        self.begun = 0
        self.go_on = threading.Event()

    def wait(self):
        self.begun += 1
        self.go_on.wait(60)


@pytest.fixture
def stubborn():
    stubborn = Stubborn()
    yield stubborn
    stubborn.go_on.set()
    preview._bulkheads.clear()


@pytest.fixture(params=["own", "transaction"])
def asked(request, stubborn, offer, options, play, script):
    """Ask for a call whose preview hangs; return the run."""

    def send(context: RunContext, text: str) -> str:
        """Send it."""
        return text

    def prepare(context: RunContext, text: str) -> None:
        stubborn.wait()  # outside of the transaction: what hangs in it locks SQLite

    def look(context: RunContext, text: str) -> Changes:
        stubborn.wait()
        one = ObjectChange(kind="action", model="testapp.effect", object_id="1")
        return Changes(title="Send", model="testapp.effect", objects=(one,), total=1)

    options(POLICY={})
    if request.param == "own":
        offer(send, effect="write", preview=look, timeout_s=1)
    else:
        tried = {"preview": "transaction", "prepare": prepare}
        offer(send, effect="write", timeout_s=1, **tried)

    def ask():
        script.add(reply("", call("send", {"text": "new"})), "Done.")
        return play()

    return ask


def test_one_that_hangs_is_given_up_and_then_not_asked(asked, stubborn):
    said = [asked().calls.get().error for _ in range(HANGING + 1)]

    assert said == [GAVE_UP] * HANGING + [HANGS]
    assert stubborn.begun == HANGING


def test_is_asked_again_when_it_has_returned(asked, stubborn):
    for _ in range(HANGING):
        asked()
    stubborn.go_on.set()

    while statuses(run := asked()) != ["waiting"]:
        assert run.calls.get().error == HANGS

    assert stubborn.begun == HANGING + 1
