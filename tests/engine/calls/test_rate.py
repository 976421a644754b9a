"""A tool with a rate: so many calls of one user, and then a sentence."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from tests.engine.conftest import statuses

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _limited(offer):
    offer(lambda: 1, name="letter", rate="2/h")


@pytest.mark.row("U03")
class TestRate:
    def test_rate_of_one_user(self, play, script):
        script.add(reply("", *[call("letter")] * 3), "I see.")

        run = play()

        assert statuses(run) == ["complete", "complete", "denied"]
        last = run.calls.last()
        assert last.result["error_type"] == "rate_limited"
        assert last.result["data"]["opens_at"] in last.result_text
        assert "called too often" in last.error

    def test_rate_not_of_another(self, play, script, staff):
        script.add(reply("", *[call("letter")] * 2), "Done.")
        script.add(reply("", call("letter")), "Done.")
        play()

        assert statuses(play(user_id=staff.pk)) == ["complete"]

    def test_rate_opens_again(self, play, script):
        script.add(reply("", *[call("letter")] * 2), "Done.")
        script.add(reply("", call("letter")), "Done.")
        play()
        before = timezone.now() - timedelta(hours=1, seconds=1)
        ToolCall.objects.update(created_at=before)

        assert statuses(play()) == ["complete"]

    def test_rate_counts_children_too(self, play, script, offer):
        def parent(context: "RunContext") -> list:
            return [context.call_tool("letter").error_type for _ in range(3)]

        from ai_assistant import RunContext

        parent.__annotations__["context"] = RunContext
        parent.__annotations__["return"] = list
        offer(parent)
        script.add(reply("", call("parent")), "Done.")

        run = play()

        data = run.calls.get(parent=None).result["data"]
        assert data == ["", "", "rate_limited"]
