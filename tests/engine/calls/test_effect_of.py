"""A tool whose arguments say whether a call writes: what asks, and what is open."""

import pytest

from ai_assistant import ContextModule
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.people import given

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/questionnaires/questionnaire/"
LOOK, PAINT = {"does": "look"}, {"does": "paint"}


def effect_of(arguments):
    return "read" if arguments["does"] == "look" else "destructive"


@pytest.fixture
def room(offer):
    """The tool `room`, and what it has done."""
    done = []

    def room(does: str) -> str:
        """Look at the room, or paint it."""
        done.append(does)
        return does

    def with_effect(says, effect="destructive"):
        offer(room, effect=effect, effect_of=says)
        return done

    return with_effect


@pytest.mark.row("T19")
class TestEffectOfACall:
    def test_call_that_reads_asks_nobody(self, room, play, script):
        done = room(effect_of)
        script.add(reply("", call("room", LOOK)), "Done.")

        run = play()

        assert (statuses(run), done) == (["complete"], ["look"])
        assert run.calls.get().effect == "read"

    def test_call_that_writes_asks(self, room, play, script):
        done = room(effect_of)
        script.add(reply("", call("room", LOOK), call("room", PAINT)), "Done.")

        run = play()

        assert run.state == "waiting_approval"
        assert done == ["look"]
        answer(given(run, "approve"))
        assert statuses(resume(run)) == ["complete", "complete"]
        assert done == ["look", "paint"]

    @pytest.mark.parametrize(
        "says",
        [lambda _: 1 / 0, lambda _: "write", lambda _: "nothing", lambda _: None],
        ids=["raises", "another that writes", "unknown", "none"],
    )
    def test_what_it_says_wrongly_counts_for_nothing(self, room, play, script, says):
        done = room(says)
        script.add(reply("", call("room", LOOK)), "Done.")

        run = play()

        assert run.state == "waiting_approval"
        assert (run.calls.get().effect, done) == ("destructive", [])

    def test_policy_that_denies_holds_for_both(self, room, play, script, options):
        done = room(effect_of)
        options(POLICY={"room": "deny"})
        script.add(reply("", call("room", LOOK)), "Oh.")

        assert statuses(play()) == ["denied"]
        assert done == []

    def test_policy_that_allows_leaves_a_destructive_call_asking(
        self, room, play, script, options
    ):
        done = room(effect_of)
        options(POLICY={"room": "allow"})
        script.add(reply("", call("room", PAINT)), "Done.")

        assert play().state == "waiting_approval"
        assert done == []


class TestWhereNothingMayBeChanged:
    @pytest.fixture(autouse=True)
    def _read_only(self):
        class RoomModule(ContextModule):
            matches = ("admin:questionnaires_questionnaire_changelist",)
            read_only = True

        with registry.restored():
            registry.add_module(RoomModule())
            yield

    def test_call_that_reads_is_carried_out_there(self, room, play, script):
        done = room(effect_of)
        script.add(reply("", call("room", LOOK)), "Done.")

        assert statuses(play(page_path=LIST)) == ["complete"]
        assert done == ["look"]

    def test_call_that_writes_asks_nobody_there(self, room, play, script):
        done = room(effect_of)
        script.add(reply("", call("room", PAINT)), "Oh.")

        run = play(page_path=LIST)

        refused = run.calls.get()
        assert (refused.status, refused.reason) == ("denied", "not_here")
        assert not run.interrupts.exists()
        assert "Nothing can be changed" in script.requests[1].messages[-1]["content"]
        assert done == []


class TestBelowAnother:
    @pytest.mark.parametrize("does", ["look", "paint"])
    def test_tool_that_reads_calls_only_what_reads(
        self, room, offer, play, script, does
    ):
        done = room(effect_of)

        def parent(context) -> str:
            """Ask the room."""
            return context.call_tool("room", does=does).error_type

        offer(parent)
        script.add(reply("", call("parent")), "Done.")

        run = play()

        assert done == (["look"] if does == "look" else [])
        assert run.calls.get(parent=None).status == (
            "complete" if does == "look" else "failed"
        )
