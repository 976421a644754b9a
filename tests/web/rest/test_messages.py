"""More to say: to a run under way, in the queue, in place of what was said before."""

from uuid import uuid4

import pytest

from ai_assistant.models import Conversation, Message, QueuedMessage, Run
from tests.web.rest.program import code

pytestmark = pytest.mark.row("L06")


@pytest.fixture
def ada(program):
    return program()


@pytest.fixture
def working(ada):
    """A run under way."""
    return ada.start().json()


@pytest.fixture
def ended(working):
    """The same, once it has ended."""
    Run.objects.filter(pk=working["id"]).update(state="succeeded", owner="")
    return working


def question(run):
    return Message.objects.get(run_id=run["id"], role="user")


class TestSteer:
    def test_next_step_reads_it(self, ada, working):
        told = ada.post(f"runs/{working['id']}/steer/", {"text": "Not the old ones."})

        assert told.status_code == 200
        said = Message.objects.filter(run_id=working["id"]).order_by("position")
        assert [message.text for message in said] == ["Hello", "Not the old ones."]
        assert not QueuedMessage.objects.waiting_in(working["conversation"]).exists()

    def test_waits_while_the_model_writes(self, ada, working):
        Run.objects.filter(pk=working["id"]).update(state="running", owner="x|1|1|1|1")

        told = ada.post(f"runs/{working['id']}/steer/", {"text": "Not the old ones."})

        assert told.status_code == 202
        assert told.json()["text"] == "Not the old ones."
        (queued,) = QueuedMessage.objects.all()
        assert str(queued.told_run) == working["id"]

    def test_repeat_says_nothing_twice(self, ada, working):
        for _ in range(2):
            ada.post(f"runs/{working['id']}/steer/", {"text": "More."}, key="k")

        said = [one.text for one in Message.objects.filter(run_id=working["id"])]
        assert said.count("More.") + QueuedMessage.objects.count() == 1

    def test_run_that_has_ended_is_told_nothing(self, ada, ended):
        told = ada.post(f"runs/{ended['id']}/steer/", {"text": "More."})

        assert (told.status_code, code(told)) == (409, "ended")
        assert Message.objects.count() == 1

    @pytest.mark.parametrize("text", ["", " ", "a\x00"])
    def test_text_that_is_none(self, ada, working, text):
        assert (
            ada.post(f"runs/{working['id']}/steer/", {"text": text}).status_code == 400
        )

    def test_another_ones_run_is_not_found(self, program, working):
        told = program("bob").post(f"runs/{working['id']}/steer/", {"text": "More."})

        assert told.status_code == 404
        assert Message.objects.count() == 1


class TestEdit:
    def test_branches_beside_the_question(self, ada, ended):
        address = f"messages/{question(ended).pk}/edit/"

        edited = ada.post(address, {"text": "Bye"})

        told = edited.json()
        assert edited.status_code == 201
        assert told["conversation"] == ended["conversation"]
        assert (told["after"], told["door"]) == (None, "api")
        assert Run.objects.get(pk=told["id"]).kind == "version"
        shown = ada.get(f"conversations/{ended['conversation']}/messages/").json()
        assert [one["text"] for one in shown["results"]] == ["Bye"]

    def test_repeat_starts_nothing_and_another_text_is_refused(self, ada, ended):
        address = f"messages/{question(ended).pk}/edit/"

        first, second = (ada.post(address, {"text": "Bye"}, key="k") for _ in range(2))
        other = ada.post(address, {"text": "Other"}, key="k")

        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json()["id"] == second.json()["id"]
        assert code(other) == "key_reused"
        assert Run.objects.count() == 2

    def test_question_under_way_stays(self, ada, working):
        edited = ada.post(f"messages/{question(working).pk}/edit/", {"text": "Bye"})

        assert (edited.status_code, code(edited)) == (409, "not_ended")

    def test_what_was_said_meanwhile_is_no_question(self, ada, working):
        ada.post(f"runs/{working['id']}/steer/", {"text": "More."})
        Run.objects.update(state="succeeded", owner="")
        later = Message.objects.get(run_id=working["id"], position=1)

        assert (
            ada.post(f"messages/{later.pk}/edit/", {"text": "Bye"}).status_code == 404
        )

    def test_another_ones_message_is_not_found(self, program, ended):
        address = f"messages/{question(ended).pk}/edit/"

        assert program("bob").post(address, {"text": "Bye"}).status_code == 404
        assert Run.objects.count() == 1


class TestRegenerate:
    def test_asks_again_beside_the_answer(self, ada, ended):
        again = ada.post(f"runs/{ended['id']}/regenerate/", {"wish": "shorter"})

        run = Run.objects.get(pk=again.json()["id"])
        assert again.status_code == 201
        assert (run.kind, run.wish, run.after_id) == ("version", "shorter", None)

    def test_wish_that_is_not_offered(self, ada, ended):
        again = ada.post(f"runs/{ended['id']}/regenerate/", {"wish": "louder"})

        assert (again.status_code, code(again)) == (400, "bad_request")


class TestShow:
    def test_branch_is_shown_and_goes_on(self, ada, ended):
        edited = ada.post(f"messages/{question(ended).pk}/edit/", {"text": "Bye"})
        Run.objects.update(state="succeeded", owner="")

        shown = ada.post(f"runs/{ended['id']}/show/")

        assert shown.status_code == 200
        conversation = Conversation.objects.get()
        assert str(conversation.shown_run_id) == ended["id"]
        assert edited.json()["id"] != ended["id"]

    def test_not_while_one_works(self, ada, working):
        shown = ada.post(f"runs/{working['id']}/show/")

        assert (shown.status_code, code(shown)) == (409, "busy")


class TestQueue:
    @pytest.fixture
    def queue(self, working):
        return f"conversations/{working['conversation']}/queue/"

    def test_message_is_added(self, ada, queue):
        added = ada.post(queue, {"text": "Then that."})

        assert added.status_code == 202
        assert [one["text"] for one in ada.get(queue).json()["results"]] == [
            "Then that."
        ]

    def test_message_is_moved(self, ada, queue):
        ids = [ada.post(queue, {"text": text}).json()["id"] for text in "abc"]

        moved = ada.post(f"{queue}{ids[2]}/", {"by": -9}, method="patch")

        assert moved.status_code == 200
        assert [one["text"] for one in ada.get(queue).json()["results"]] == [*"cab"]

    def test_message_is_sent_to_the_run_now(self, ada, queue, working):
        added = ada.post(queue, {"text": "Then that."}).json()

        sent = ada.post(f"{queue}{added['id']}/send/")

        assert sent.status_code == 200
        assert sent.json()["id"] == working["id"]
        assert Message.objects.filter(run_id=working["id"]).count() == 2

    def test_queue_that_has_paused_goes_on(self, ada, queue, working):
        ada.post(queue, {"text": "Then that."})
        Run.objects.filter(pk=working["id"]).update(state="cancelled", owner="")

        resumed = ada.post(f"{queue}resume/")

        assert resumed.status_code == 201
        assert Message.objects.get(run_id=resumed.json()["id"]).text == "Then that."

    def test_empty_one_has_nothing_to_resume(self, ada, queue):
        assert code(ada.post(f"{queue}resume/")) == "sent"

    def test_another_ones_is_not_found(self, program, queue):
        bob = program("bob")

        assert bob.post(queue, {"text": "Mine"}).status_code == 404
        assert bob.post(f"{queue}resume/").status_code == 404
        assert bob.post(f"{queue}{uuid4()}/send/").status_code == 404
        assert not QueuedMessage.objects.exists()


@pytest.mark.row("D04")
class TestSummary:
    @pytest.fixture
    def summary(self, ada, ended):
        run = Run.objects.get(pk=ended["id"])
        part = {"type": "text", "text": "Short.", "label": "user", "count": 1}
        note = Message(
            conversation=run.conversation,
            run=run,
            role="summary",
            origin="app",
            parts=[part],
            sums_up_to=0,
        )
        return Message.objects.append(note) or note

    def test_is_taken_back_and_stays_told(self, ada, ended, summary):
        told = ada.post(f"messages/{summary.pk}/undo/")

        assert (told.status_code, told.json()["state"]) == (200, "undone")
        assert (told.json()["role"], told.json()["text"]) == ("summary", "Short.")
        address = f"conversations/{ended['conversation']}/messages/"
        assert told.json() in ada.get(address).json()["results"]

    def test_twice_is_harmless(self, ada, summary):
        first, second = (ada.post(f"messages/{summary.pk}/undo/") for _ in range(2))

        assert first.json() == second.json()

    def test_of_which_a_newer_one_is_made(self, ada, summary):
        newer = Message(
            conversation=summary.conversation,
            run=summary.run,
            role="summary",
            parts=summary.parts,
            sums_up_to=0,
        )
        Message.objects.append(newer)

        refused = ada.post(f"messages/{summary.pk}/undo/")

        assert (refused.status_code, code(refused)) == (409, "newer")
        summary.refresh_from_db()
        assert summary.state == "complete"

    def test_other_messages_are_none(self, ada, ended, summary):
        refused = ada.post(f"messages/{question(ended).pk}/undo/")

        assert (refused.status_code, code(refused)) == (404, "not_found")

    def test_another_ones_is_not_found(self, program, summary):
        refused = program("bob").post(f"messages/{summary.pk}/undo/")

        assert refused.status_code == 404
        summary.refresh_from_db()
        assert summary.state == "complete"

    def test_token_that_may_only_read(self, program, summary):
        refused = program(scopes=("read",)).post(f"messages/{summary.pk}/undo/")

        assert code(refused) == "scope"
