"""The rest of a result that was cut is read by a tool, in the same conversation alone."""

import re
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission

from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from ai_assistant.tools.result import READ_RESULT

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "".join(f"<{number:04}>" for number in range(500))  # 3,000 characters


@pytest.fixture(autouse=True)
def _few(options):
    options(LIMITS={"RESULT_CHARS": 1000})


def told(request):
    """The names of the tools that the model was offered with a request."""
    return {one["function"]["name"] for one in request.tools}


def results(request):
    return [one["content"] for one in request.messages if one["role"] == "tool"]


def read(call_id, start):
    return reply("", call(READ_RESULT, {"call": str(call_id), "from": start}))


class TestReadResult:
    @pytest.mark.row("U05")
    def test_reads_all_of_a_result_that_was_cut(self, play, script):
        script.add(reply("", call("echo", {"text": TEXT})), "Long.")
        cut = play().calls.get()
        named = re.search(r"call='([^']+)', from=(\d+)\)\.\]$", cut.result_text)
        assert named is not None
        found, start = cut.result_text[:1000], int(named[2])
        while True:
            script.add(read(named[1], start), "Read.")
            run = play(conversation_id=cut.run.conversation_id)
            piece, _line, note = run.calls.get().result_text.rpartition("\n")
            assert len(run.calls.get().result_text) <= 1000
            found += piece
            if "end of the result" in note:
                break
            start = int(re.search(r"Read on from (\d+)\.", note)[1])

        assert found == TEXT

    @pytest.mark.row("U05")
    def test_is_offered_once_a_result_was_cut(self, play, script):
        script.add(
            reply("", call("echo", {"text": "short"})),
            reply("", call("echo", {"text": TEXT})),
            "Long.",
        )
        run = play()

        assert [READ_RESULT in told(one) for one in script.requests] == [
            False,
            False,
            True,
        ]
        script.add("I still know it.", "I know of nothing.")
        play(conversation_id=run.conversation_id)
        play()
        assert READ_RESULT in told(script.requests[3])
        assert READ_RESULT not in told(script.requests[4])

    def test_is_not_here_where_nothing_was_cut(self, play, script):
        script.add(read(uuid4(), 0), "There is none.")

        one = play().calls.get()

        assert (one.status, one.reason) == ("denied", "not_here")

    def test_what_a_tool_calls_offers_nothing(self, play, script, offer):
        def outer(context) -> int:
            return len(str(context.call_tool("echo", {"text": TEXT})))

        offer(outer)
        script.add(reply("", call("outer")), "Done.")

        run = play()

        assert run.loaded_tools == []

    @pytest.mark.parametrize("whose", ["conversation", "user"])
    def test_others_are_not_read(self, play, script, staff, whose):
        script.add(reply("", call("echo", {"text": TEXT})), "Long.")
        there = play().calls.get()
        script.add(
            reply("", call("echo", {"text": TEXT})), read(there.pk, 0), "No such."
        )

        run = play(user_id=staff.pk) if whose == "user" else play()

        one = run.calls.get(name=READ_RESULT)
        assert one.status == "failed"
        assert "No result of this conversation is named" in one.result_text
        assert "<0001>" not in one.result_text

    @pytest.mark.parametrize("named", ["", "x", "0", str(UUID(int=1))])
    def test_a_wrong_name_is_a_sentence(self, play, script, named):
        script.add(reply("", call("echo", {"text": TEXT})), read(named, 0), "No such.")

        one = play().calls.get(name=READ_RESULT)

        assert (one.status, one.result["error_type"]) == ("failed", "retry")

    @pytest.mark.parametrize(
        ("start", "says"), [(3000, "nothing is left"), (-1, "minimum")]
    )
    def test_a_wrong_place_is_a_sentence(self, play, script, start, says):
        script.add(reply("", call("echo", {"text": TEXT})), "Long.")
        cut = play().calls.get()
        script.add(read(cut.pk, start), "No such.")

        one = play(conversation_id=cut.run.conversation_id).calls.get()

        assert one.status == "failed"
        assert says in one.result_text

    def test_secrets_of_now_are_taken_out(self, play, script, options):
        script.add(reply("", call("echo", {"text": TEXT})), "Long.")
        cut = play().calls.get()
        options(REDACT=[r"<0300>"])
        script.add(read(cut.pk, 1700), "Read.")

        one = play(conversation_id=cut.run.conversation_id).calls.get()

        assert "<0299>" in one.result_text
        assert "<0300>" not in one.result_text

    def test_not_of_a_tool_that_may_no_longer_be_called(
        self, play, script, offer, staff
    ):
        allowed = Permission.objects.get(codename="view_effect")
        offer(lambda: TEXT, name="listed", permission="testapp.view_effect")
        staff.user_permissions.add(allowed)
        script.add(reply("", call("listed")), "Long.")
        cut = play(user_id=staff.pk).calls.get()
        staff.user_permissions.remove(allowed)
        script.add(read(cut.pk, 1000), "No.")

        one = play(
            user_id=staff.pk, conversation_id=cut.run.conversation_id
        ).calls.get()

        assert one.status == "failed"
        assert "may not call 'listed' any more" in one.result_text

    def test_a_piece_is_data_as_the_result_was(self, play, script):
        script.add(reply("", call("echo", {"text": TEXT})), "Long.")
        cut = play().calls.get()
        script.add(read(cut.pk, 1000), "Read.")
        run = play(conversation_id=cut.run.conversation_id)

        # Also if nothing else in the conversation were.
        ToolCall.objects.filter(pk=cut.pk).update(name="ask_user")

        assert has_data(run)
