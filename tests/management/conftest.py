"""Conversations of two people, stored as runs leave them."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from ai_assistant.models import (
    ChangeSet,
    Conversation,
    Message,
    RowChange,
    Run,
    Step,
    ToolCall,
    UsageLedger,
)
from ai_assistant.models.run import RunState
from ai_assistant.safety.audit import record


@pytest.fixture
def people():
    users = get_user_model().objects
    return {name: users.create_user(name) for name in ("ada", "bob")}


@pytest.fixture
def told(people):
    """Return a conversation of `ada` or `bob`, `days` old, with one of everything."""

    def make(name, *, days=0, state=RunState.SUCCEEDED):
        user = people[name]
        conversation = Conversation.objects.create(owner=user, title=f"Of {name}")
        run = Run.objects.create(
            conversation=conversation,
            user=user,
            idempotency_key=uuid.uuid4(),
            state=state,
        )
        parts = [{"type": "text", "text": f"I am {name}."}]
        message = Message.objects.create(
            conversation=conversation, run=run, position=0, role="user", parts=parts
        )
        step = Step.objects.create(run=run, index=0, message=message)
        call = ToolCall.objects.create(
            run=run, step=step, position=0, name="mark_paid", arguments={"order": 1}
        )
        change = ChangeSet.objects.create(
            run=run, call=call, user=user, tool="mark_paid"
        )
        RowChange.objects.create(
            change_set=change,
            order=0,
            model="shop.order",
            object_id="1",
            kind="update",
            before={"paid": False, "customer": "Grace"},
            after={"paid": True, "customer": "Grace"},
            fields=["paid"],
        )
        UsageLedger.objects.create(run=run, user=user, model="m", input_tokens=7)
        record("run.started", user=user, run_id=run.pk)
        _make_older(conversation, days)
        return conversation

    return make


def _make_older(conversation, days):
    then = timezone.now() - timedelta(days=days)
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=then)
