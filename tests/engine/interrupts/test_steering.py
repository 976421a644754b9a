"""A message to a run that works is read in its next step, once, or not at all."""

import pytest

from ai_assistant.engine.execution.dequeue import start_waiting
from ai_assistant.engine.execution.sweep import claim_runs
from ai_assistant.engine.intake.retries import again_submission
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.lifecycle.steering import MOST, take_along
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import ModelError
from ai_assistant.models.conversation import Message, QueuedMessage
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on, facts, resume, said, statuses
from tests.engine.execution.test_resume import begin, resumed
from tests.engine.kill import Kill
from tests.engine.people import given, refusal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("ui 33")]


@pytest.fixture
def steer(submission):
    """Say something to the only run: `steer("Only 2025")`."""

    def send(text, **fields):
        run = Run.objects.get()
        fields = {"user_id": run.user_id, "steers": True, **fields}
        return accept(submission(text, conversation_id=run.conversation_id, **fields))

    return send


@pytest.fixture
def while_it_writes(function_model):
    """Do something within the model's first reply, which calls a tool; its requests."""

    def use(work):
        asked = []

        async def model(request):
            asked.append(request.messages)
            if "tool" in roles(request.messages):
                return reply("Done.")
            await in_db(work)
            return reply("First.", call("echo", {"text": "a"}))

        function_model(model)
        return asked

    return use


def roles(messages):
    return [message["role"] for message in messages if message["role"] != "system"]


def claimed(run_id):
    """Take a queued run."""
    (hold,) = claim_runs(this_process(), 9)
    assert hold.run_id == run_id
    return hold


def users(run):
    messages = run.messages.filter(role="user").order_by("position")
    return [message.text for message in messages]


def as_many_as_may_be(steer):
    """Say one more than a step takes; return the code of the refusal."""
    for number in range(MOST):
        steer(str(number))
    return refusal(steer, "one more")


class TestWhileToolsWork:
    def test_while_tools_work_is_read_behind_their_results(
        self, play, script, offer, steer
    ):
        offer(lambda: bool(steer("Only 2025")), name="slow")
        script.add(reply("", call("slow")), "Only that year.")

        run = play()

        asked = script.requests[1].messages
        assert roles(asked) == ["user", "assistant", "tool", "user"]
        assert asked[-1]["content"] == "Only 2025"
        assert (run.state, users(run)) == ("succeeded", ["Hello", "Only 2025"])
        assert "aia.message" in facts(run)

    def test_while_tools_work_while_a_task_works_beside(
        self, play, script, offer, steer
    ):
        offer(lambda: 1, name="long", background=True)
        script.add(reply("", call("long")))
        run = play()

        accepted = steer("Hurry")

        assert (accepted.run_id, accepted.woken) == (run.pk, False)
        run.refresh_from_db()
        assert (run.state, users(run)) == ("waiting_task", ["Hello", "Hurry"])

    def test_answers_nothing_that_is_asked_meanwhile(self, asks, play, script, steer):
        script.add(reply("", call("write_effect", {"key": "a"})), "Left.")
        run = play()

        accepted = steer("Only 2025")

        run.refresh_from_db()
        assert (run.state, accepted.woken) == ("waiting_approval", False)
        assert statuses(run) == ["waiting"]
        answer(given(run, "deny"))
        run = resume(run)
        assert roles(script.requests[1].messages)[-2:] == ["tool", "user"]
        assert (run.state, users(run)) == ("succeeded", ["Hello", "Only 2025"])

    def test_a_few_are_taken_for_one_step(self, play, script, offer, steer):
        offer(lambda: as_many_as_may_be(steer), name="tell")
        script.add(reply("", call("tell")), "All read.")

        run = play()

        assert run.calls.get().result["data"] == "busy"
        assert users(run) == ["Hello", *map(str, range(MOST))]


class TestWhileTheModelWrites:
    def test_while_the_model_writes_is_read_behind_the_calls_of_its_reply(
        self, play, while_it_writes, steer
    ):
        asked = while_it_writes(lambda: steer("Only 2025"))

        run = play()

        assert roles(asked[1]) == ["user", "assistant", "tool", "user"]
        assert asked[1][-1]["content"] == "Only 2025"
        assert (run.state, statuses(run)) == ("succeeded", ["complete"])
        assert users(run) == ["Hello", "Only 2025"]
        assert not QueuedMessage.objects.exists()

    def test_twice_is_once(self, play, while_it_writes, steer):
        while_it_writes(lambda: [steer("Only 2025", key="k") for _ in range(2)])

        assert users(play()) == ["Hello", "Only 2025"]

    def test_a_few_are_taken_for_one_step(self, play, while_it_writes, steer):
        refused = []
        while_it_writes(lambda: refused.append(as_many_as_may_be(steer)))

        run = play()

        assert refused == ["busy"]
        assert users(run) == ["Hello", *map(str, range(MOST))]

    def test_its_answer_leaves_it_to_the_queue(self, play, function_model, steer):
        async def model(request):
            if len(roles(request.messages)) == 1:
                await in_db(lambda: steer("And 2024", key="k"))
            return reply("The answer.")

        function_model(model)

        run = play()

        assert (run.state, users(run)) == ("succeeded", ["Hello"])
        (next_one,) = start_waiting()
        assert users(carry_on(claimed(next_one.run_id))) == ["And 2024"]

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    @pytest.mark.parametrize("at", range(3))
    def test_while_the_model_writes_is_read_once_wherever_the_process_is_killed(
        self, submission, while_it_writes, steer, monkeypatch, at, after
    ):
        asked = while_it_writes(lambda: steer("Only 2025", key="k"))
        hold = begin(submission)
        Kill(monkeypatch, at=at, after=after).execute(hold)

        run = resumed(hold)

        assert (run.state, said(run)) == ("succeeded", "First.|Done.")
        assert users(run) == ["Hello", "Only 2025"]
        assert [one["content"] for one in asked[-1]].count("Only 2025") == 1

    def test_twice_at_the_moment_when_it_was_read(self, play, script, offer, steer):
        """The second one was on its way when the first became a message."""

        def tell():
            run = Run.objects.get()
            steer("Only 2025", key="k")
            again = Message(
                conversation=run.conversation, run=run, key="k", role="user"
            )
            return take_along(run, again, look_only=False)

        offer(tell)
        script.add(reply("", call("tell")), "Done.")

        run = play()

        assert run.calls.get().result["data"] is True
        assert users(run) == ["Hello", "Only 2025"]
        assert not QueuedMessage.objects.exists()


class TestHistory:
    """What was said within a run does not take the place of its question."""

    @pytest.mark.parametrize(
        "short",
        [{"LIMITS": {"HISTORY_MESSAGES": 4}}, {"LIMITS": {"HISTORY_CHARS": 1000}}],
    )
    def test_history_keeps_the_question(
        self, play, script, offer, options, steer, short
    ):
        def big(number: int) -> str:
            if number == 3:
                steer("Only 2025")
            return "x" * 400

        offer(big)
        options(**short)
        script.add(*[reply("", call("big", {"number": n})) for n in range(4)], "Done.")

        play()

        asked = [one for one in script.requests[-1].messages if one["role"] != "system"]
        assert asked[0]["content"].endswith("Hello")
        assert roles(asked)[-3:] == ["assistant", "tool", "user"]
        assert asked[-1]["content"] == "Only 2025"

    def test_history_of_an_earlier_run_begins_with_its_question(
        self, play, script, offer, options, steer
    ):
        offer(lambda: bool(steer("Only 2025")), name="slow")
        script.add(reply("", call("slow")), "Done.", "Again.")
        first = play()
        # Of the first run its question, its call and what was said fall out.
        options(LIMITS={"HISTORY_MESSAGES": 3})

        play("And now?", conversation_id=first.conversation_id)

        assert roles(script.requests[-1].messages) == ["user"]

    def test_retry_says_all_of_it_again(self, play, function_model, offer, steer):
        asked = []

        async def model(request):
            asked.append(request.messages[-1]["content"])
            if len(asked) == 2:
                raise ModelError("auth", "no")
            return reply("", call("slow")) if len(asked) == 1 else reply("Done.")

        offer(lambda: bool(steer("Only 2025")), name="slow")
        function_model(model)
        run = play()
        assert run.state == "failed"

        sent = again_submission(run.user_id, run.pk, "k", SessionStamp())
        carry_on(accept(sent, owner=this_process()).hold)

        assert asked[-1] == "Hello\n\nOnly 2025"


class TestNotTaken:
    """It is refused; what waits in the queue goes on to wait there."""

    def test_not_taken_by_an_answer_that_has_ended(self, play, script, steer):
        script.add("The answer.")
        run = play()

        assert refusal(lambda: steer("And 2024")) == "ended"
        assert users(run) == ["Hello"]

    def test_unless_it_is_meant_to_be(self, play, script, offer, steer):
        offer(lambda: str(steer("Hurry", steers=False).queued), name="tell")
        script.add(reply("", call("tell")), "Done.")

        run = play()

        row = QueuedMessage.objects.get()
        assert (run.calls.get().result["data"], row.text) == (str(row.pk), "Hurry")
        assert users(run) == ["Hello"]

    def test_not_taken_by_a_run_that_may_do_more_than_is_wanted_now(
        self, play, script, offer, steer
    ):
        offer(lambda: refusal(lambda: steer("Look", look_only=True)), name="tell")
        script.add(reply("", call("tell")), "Done.")

        assert play().calls.get().result["data"] == "busy"

    def test_not_taken_by_a_run_that_is_being_stopped(
        self, while_it_writes, submission, steer
    ):
        refused = []

        def work():
            stop(Run.objects.get().pk)
            refused.append(refusal(lambda: steer("Wait")))

        while_it_writes(work)

        carry_on(begin(submission))

        assert refused == ["busy"]

    def test_not_taken_by_another_persons_run(self, play, script, offer, steer, staff):
        def other():
            return refusal(lambda: steer("Mine", user_id=staff.pk))

        offer(other)
        script.add(reply("", call("other")), "Done.")

        run = play()

        assert run.calls.get().result["data"] == "not_found"
        assert users(run) == ["Hello"]
