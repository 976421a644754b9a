"""A call of the model passes the hooks before anybody sees it."""

import pytest

import ai_assistant
from ai_assistant.hooks import Refuse, RequireApproval
from ai_assistant.testing import call, reply
from tests.engine.conftest import said, statuses
from tests.testapp.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H09")]


def keys():
    return list(Effect.objects.order_by("pk").values_list("key", flat=True))


class TestOutcomes:
    def test_other_arguments_are_those_of_the_call(self, play, script):
        @ai_assistant.hook("before_tool", tools="write_*")
        def upper(context, asked):
            return {"key": asked.arguments["key"].upper()}

        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        run = play()

        assert keys() == ["A"]
        assert run.calls.get().arguments == {"key": "A"}
        assert run.calls.get().hooked["changed_by"] == ["upper"]

    def test_a_refused_call_is_denied_with_the_reason(self, play, script):
        @ai_assistant.hook("before_tool")
        def closed(context, asked):
            return Refuse("The office is closed.")

        script.add(reply("", call("write_effect", {"key": "a"})), "Sorry.")

        run = play()

        assert statuses(run) == ["denied"]
        assert keys() == []
        assert "The office is closed." in run.calls.get().result_text
        assert said(run).endswith("Sorry.")

    def test_a_demanded_approval_is_asked_for(self, play, script):
        @ai_assistant.hook("before_tool", tools=["write_effect"])
        async def careful(context, asked):
            return RequireApproval("Two eyes see more.")

        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        run = play()

        assert run.state == "waiting_approval"
        assert run.calls.get().asks_because == "Two eyes see more."
