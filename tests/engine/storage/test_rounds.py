"""What is told for some messages of the person only, and what stays in its place."""

import json
import uuid

import pytest

import ai_assistant
from ai_assistant.engine.intake.retries import (
    Version,
    again_submission,
    regenerate_submission,
)
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.rounds import NOT_TOLD, still_told
from ai_assistant.engine.storage.summaries import stretch_of
from ai_assistant.models import QueuedMessage, Run, ToolCall
from ai_assistant.registry import registry
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("D07")]
SEEN = "42 red doors"


@pytest.fixture
def conversation(play, script):
    """Send messages to one conversation: `say("More")` returns the run."""
    own = {"conversation_id": uuid.uuid4()}

    def say(text="Hello", *replies, **fields):
        script.add(*(replies or ["Yes."]))
        return play(text, **own, **fields)

    return say


@pytest.fixture
def look(offer):
    """Offer the tool `look`, whose results stay for so many rounds."""

    def use(rounds):
        def look() -> str:
            """Look."""
            return SEEN

        offer(look, context_rounds=rounds)

    return use


def told(script):
    """Return what the model was told last."""
    return script.requests[-1].messages


def results(script):
    return [one["content"] for one in told(script) if one["role"] == "tool"]


class TestResult:
    @pytest.mark.parametrize("rounds", [1, 2, 3])
    def test_stays_for_so_many_messages(self, conversation, script, look, rounds):
        look(rounds)

        conversation("Look.", reply("", call("look")), "Done.")
        for _ in range(rounds - 1):
            assert SEEN in results(script)[0]
            conversation("More.")
        assert SEEN in results(script)[0]
        conversation("More.")

        (note,) = results(script)
        assert note == (
            f"[This result is told no more: it was for {rounds} message(s) of the user.]"
        )

    def test_for_none_is_never_told(self, conversation, script, look):
        look(0)

        run = conversation("Look.", reply("", call("look")), "Done.")

        assert results(script) == [NOT_TOLD]
        assert SEEN in ToolCall.objects.get(run=run).result_text  # it is kept

    def test_without_a_duration_stays(self, conversation, script, look):
        look(None)
        conversation("Look.", reply("", call("look")), "Done.")
        for _ in range(4):
            conversation("More.")

        assert SEEN in results(script)[0]

    def test_is_told_with_its_call(self, conversation, script, look):
        look(1)
        conversation("Look.", reply("I look.", call("look")), "Done.")
        conversation("More.")

        roles = [one["role"] for one in told(script)[1:]]
        assert roles == ["user", "assistant", "tool", "assistant", "user"]
        asked, answered = told(script)[2], told(script)[3]
        assert asked["tool_calls"][0]["id"] == answered["tool_call_id"]

    def test_stays_as_it_was_when_the_tool_changes(self, conversation, script, look):
        look(1)
        conversation("Look.", reply("", call("look")), "Done.")
        look(None)
        conversation("More.")

        assert SEEN not in json.dumps(told(script))

    def test_going_on_is_no_message(self, conversation, script, look, user, options):
        look(1)
        options(LIMITS={"STEPS": 1})
        run = conversation("Look.", reply("", call("look")))
        assert run.state == "limited"
        again = again_submission(user.pk, run.pk, "k", SessionStamp())
        script.add("Done.")
        carry_on(accept(again, owner=this_process()).hold)

        assert SEEN in results(script)[0]

    @pytest.mark.row("D04")
    def test_is_no_part_of_a_summary(self, conversation, look):
        look(5)
        conversation("Look.", reply("", call("look")), "Done.")
        for number in range(7):
            run = conversation(f"Question {number}")

        stretch = stretch_of(run)

        assert "The assistant called look" in stretch.text
        assert SEEN not in stretch.text


class TestMessage:
    def test_leaves_with_its_answer(self, conversation, script, look):
        look(None)
        conversation("First.")
        conversation("Night.", reply("", call("look")), "Quiet.", context_rounds=1)
        assert "Night." in json.dumps(told(script))

        conversation("More.")

        texts = [one["content"] for one in told(script)[1:]]
        assert texts == ["First.", "Yes.", "More."]

    def test_stays_for_two(self, conversation, script):
        conversation("Night.", context_rounds=2)
        conversation("More.")
        assert "Night." in json.dumps(told(script))

        conversation("More.")

        assert "Night." not in json.dumps(told(script))

    def test_is_told_while_it_works(self, conversation, script, look):
        look(None)
        conversation("Night.", reply("", call("look")), "Quiet.", context_rounds=1)

        assert told(script)[1]["content"] == "Night."

    def test_all_but_the_newest_may_leave(self, conversation, script):
        for _ in range(3):
            conversation("Night.", context_rounds=1)
        conversation("More.")

        assert [one["content"] for one in told(script)[1:]] == ["More."]

    def test_another_version_has_the_same(self, conversation, user):
        run = conversation("Night.", context_rounds=2)
        version = Version(user_id=user.pk, run_id=run.pk, key="k", stamp=SessionStamp())

        assert regenerate_submission(version).context_rounds == 2

    @pytest.mark.row("D04")
    def test_is_no_part_of_a_summary(self, conversation):
        conversation("Night.", context_rounds=9)
        for number in range(7):
            run = conversation(f"Question {number}")

        assert "Night." not in stretch_of(run).text

    def test_waits_with_it(self, submission, play, user):
        first = accept(submission("Hello"))
        named = {"conversation_id": first.conversation_id, "context_rounds": 3}
        accept(submission("Night.", **named))

        assert QueuedMessage.objects.get().context_rounds == 3


class TestContextItem:
    PAGE = "/admin/wiki/page/"

    @pytest.fixture(autouse=True)
    def provider(self):
        with registry.restored():

            @ai_assistant.context(context_rounds=2)
            def prices(context):
                """The prices."""
                return "9.99 a door"

            yield

    def test_is_told_with_so_many_messages_of_its_page(self, conversation, script):
        seen = []
        for page in (self.PAGE, f"{self.PAGE}?q=x", self.PAGE, "/admin/", "/admin/"):
            conversation("Hello", page_path=page)
            seen.append("9.99 a door" in told(script)[0]["content"])

        assert seen == [True, True, False, True, True]

    def test_is_asked_of_the_rows_only_if_one_is_counted(
        self, conversation, django_assert_num_queries
    ):
        with django_assert_num_queries(0):
            assert still_told([], Run.objects.count) == []
