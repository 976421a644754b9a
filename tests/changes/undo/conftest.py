"""Changes that are stored, undone and compared, on the rows of the gallery."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store
from ai_assistant.changes.undo.planning import make_plan
from ai_assistant.changes.undo.restoring import Restorer, work_of
from ai_assistant.changes.undo.values import Choice, UndoPlan
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, Step
from tests.changes import forms


class Everything:
    """The permissions of who may do all."""

    def look_at(self, objects):
        """Need nothing of them."""

    def to_change(self, obj, raws):
        return {}

    def to_create(self, instance):
        return ""

    def to_delete(self, obj):
        return ""

    def to_link(self, through, image):
        return ""


@dataclass
class Assistant:
    """Changes rows as a tool does, and takes it back."""

    user: Any
    run: Run
    call: ToolCall

    def do(self, *works) -> ChangeSet:
        """Do each of `works` in a call of its own; return the last one's changes."""
        made = None
        for work in works:
            with transaction.atomic():
                with recording() as recorder:
                    work()
                made = store(recorder, self.run, self.call, self.user) or made
        return made

    def plan(self, *change_sets, permissions=None, only=None) -> UndoPlan:
        sets = change_sets or tuple(ChangeSet.objects.filter(run=self.run))
        return make_plan(sets, permissions or Everything(), only)

    def undo(self, *change_sets, rows=None, overruled=()) -> list[Any]:
        """Undo changes, or all of the run; return what is not as planned."""
        choice = Choice(
            rows=None if rows is None else frozenset(rows),
            overruled=frozenset(overruled),
        )
        with transaction.atomic():
            work = work_of(self.plan(*change_sets, only=choice.rows), choice)
            with recording() as recorder:
                restorer = Restorer(rows=work, recorder=recorder)
                restorer.carry_out()
        return restorer.differing()


@pytest.fixture
def assistant(django_user_model) -> Assistant:
    user = django_user_model.objects.create_user("ann")
    conversation = Conversation.objects.create(owner=user)
    run = Run.objects.create(conversation=conversation, user=user)
    message = Message.objects.create(
        conversation=conversation, run=run, role="assistant", position=1
    )
    step = Step.objects.create(run=run, index=0, message=message)
    call = ToolCall.objects.create(run=run, step=step, position=0, name="tool")
    return Assistant(user, run, call)


@pytest.fixture
def hung(media):
    forms.hang()
