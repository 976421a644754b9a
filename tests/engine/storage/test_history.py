"""What the model is told of a conversation, whatever has happened in it."""

import json
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_assistant import conf
from ai_assistant.engine.storage.fitting import LEFT_OUT
from ai_assistant.engine.storage.history import chat_messages
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, Step
from ai_assistant.testing import call, reply
from ai_assistant.types import ReplyEnd
from tests.engine.conftest import said

pytestmark = pytest.mark.django_db(transaction=True)

provider_ids = st.sampled_from(["", "call_0", "call_1", "x"])
names = st.sampled_from(["echo", "", "not a name", "ünïcode", "x" * 100])
calls = st.lists(st.tuples(provider_ids, names), max_size=3)
steps = st.lists(st.tuples(st.sampled_from(["", "Text."]), calls), max_size=4)
runs = st.lists(steps, min_size=1, max_size=4)


def build(told):
    """Store a conversation of finished runs; return its last run."""
    owner, _ = get_user_model().objects.get_or_create(username="hy")
    conversation = Conversation.objects.create(owner=owner)
    run = None
    for run_steps in told:
        run = Run.objects.create(
            conversation=conversation,
            after=run,
            user=owner,
            idempotency_key=uuid.uuid4().hex,
            state="cancelled",
        )
        _message(run, "user", "Question?")
        for index, (text, asked) in enumerate(run_steps):
            message = _message(run, "assistant", text)
            step = Step.objects.create(
                run=run, index=index, message=message, finish_reason="stop"
            )
            for position, (provider_id, name) in enumerate(asked):
                call = ToolCall.objects.create(
                    run=run,
                    step=step,
                    position=position,
                    provider_id=provider_id,
                    name=name,
                    status="complete",
                    result_text=f"{index}.{position}",
                )
                message.parts.append({"type": "call", "call_id": str(call.pk)})
            message.save()
    return run


def _message(run, role, text, **fields):
    return Message.objects.create(
        conversation=run.conversation,
        run=run,
        role=role,
        position=run.conversation.messages.count(),
        parts=[{"type": "text", "text": text}],
        **fields,
    )


class TestProperty:
    @pytest.mark.row("V04")
    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(told=runs, window=st.integers(1, 12))
    @pytest.mark.row("D08")
    def test_property_calls_and_results_are_never_parted(self, options, told, window):
        options(LIMITS={"HISTORY_MESSAGES": window})

        with transaction.atomic():
            chat = chat_messages(build(told))
            transaction.set_rollback(True)

        assert chat[0]["role"] == "user"
        open_ids, seen = [], set()
        for message in chat:
            if message["role"] == "tool":
                assert message["tool_call_id"] == open_ids.pop(0)
                assert message["content"]
                continue
            assert open_ids == []
            for one in message.get("tool_calls", []):
                open_ids.append(one["id"])
                assert one["id"] not in seen
                seen.add(one["id"])
                assert isinstance(json.loads(one["function"]["arguments"]), dict)
                assert one["function"]["name"].isascii()
                assert 0 < len(one["function"]["name"]) <= 64
            assert message.get("content") or message.get("tool_calls")
        assert open_ids == []


class TestHistory:
    def test_history_keeps_the_fields_of_the_provider(self, play, script):
        fields = {"reasoning_details": [{"signature": "abc"}]}
        script.add(
            [
                call("echo", {"text": "a"}),
                ReplyEnd(finish_reason="tool_calls", provider_fields=fields),
            ],
            "Yes.",
        )

        play()

        told = script.requests[1].messages[2]
        assert told["reasoning_details"] == fields["reasoning_details"]

    @pytest.mark.row("V05")
    def test_history_keeps_the_fields_of_a_call(self, play, script):
        from ai_assistant.types import ToolCallDelta

        asked = ToolCallDelta(
            index=0,
            provider_id="c",
            name="echo",
            arguments='{"text": "a"}',
            provider_fields={"extra_content": {"google": {"thought_signature": "s"}}},
        )
        script.add([asked], "Yes.")

        play()

        (told,) = script.requests[1].messages[2]["tool_calls"]
        assert told["extra_content"] == {"google": {"thought_signature": "s"}}
        assert told["type"] == "function"

    def test_repeated_ids_are_made_unique(self, play, script):
        same = call("echo", {"text": "a"}, provider_id="same")
        script.add(reply("", same), reply("", same), "Yes.")

        play()

        chat = script.requests[2].messages
        asked = [m["tool_calls"][0]["id"] for m in chat if "tool_calls" in m]
        told = [m["tool_call_id"] for m in chat if m["role"] == "tool"]
        assert asked == told
        assert asked[0] == "same"
        assert len(set(asked)) == 2

    def test_missing_ids_get_one(self, play, script):
        from ai_assistant.types import ToolCallDelta

        script.add(
            [ToolCallDelta(index=0, name="echo", arguments='{"text": "a"}')], "Yes."
        )

        play()

        assert script.requests[1].messages[3]["tool_call_id"].startswith("call_")

    def test_other_runs_are_told_too(self, play, script):
        script.add("One.", "Two.")
        first = play("1")

        play("2", conversation_id=first.conversation_id)

        chat = script.requests[1].messages[1:]
        assert [m["content"] for m in chat] == ["1", "One.", "2"]

    def test_other_conversations_are_not(self, play, script):
        script.add("One.", "Two.")
        play("1")

        play("2")

        assert [m["content"] for m in script.requests[1].messages[1:]] == ["2"]

    @pytest.mark.row("B04")
    def test_long_run_keeps_its_question(self, play, script, options):
        options(LIMITS={"HISTORY_MESSAGES": 2})
        script.add(
            *[reply(f"Step {n}.", call("echo", {"text": "a"})) for n in (1, 2, 3)]
        )
        script.add("Done.")

        run = play("The question")

        assert said(run).endswith("Done.")
        chat = script.requests[3].messages[1:]
        assert chat[0] == {"role": "user", "content": f"{LEFT_OUT}\n\nThe question"}
        assert "Step 1." not in str(chat)

    @pytest.mark.row("D03")
    def test_old_messages_stay_and_only_the_model_gets_fewer(
        self, play, script, options
    ):
        options(LIMITS={"HISTORY_MESSAGES": 2})
        script.add("First.", "Second.")
        first = play("One?")

        play("Two?", conversation_id=first.conversation_id)

        assert "One?" not in str(script.requests[1].messages)
        kept = first.conversation.messages.order_by("position")
        assert [one.text for one in kept] == ["One?", "First.", "Two?", "Second."]

    @pytest.mark.row("D03")
    def test_fifty_messages_by_default(self):
        assert conf.DEFAULTS["LIMITS"]["HISTORY_MESSAGES"] == 50

    def test_unfinished_call_has_a_result(self):
        run = build([[("Text.", [("a", "echo")])]])
        ToolCall.objects.update(result_text="", status="pending")

        assert chat_messages(run)[-1]["content"] == "(no result)"
        Conversation.objects.all().delete()
