"""What is known before a message is accepted."""

import uuid

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.engine.intake.lookup import Known, look_up
from ai_assistant.engine.intake.submission import accept
from ai_assistant.models.clock import Now
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run, RunState

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def other():
    return get_user_model().objects.create_user("eve")


def test_of_a_new_conversation_nothing_is_known(user):
    with CaptureQueriesContext(connection) as queries:
        known = look_up(user.pk, uuid.uuid4(), "key", "thread")

    assert len(queries) == 1
    assert known.now > 1_600_000_000
    assert known == Known(
        now=known.now,
        load=0,
        is_anothers=False,
        is_repeat=False,
        has_queue=False,
        has_run=False,
        agent="",
    )


def test_a_run_under_way(submission, user):
    accepted = accept(submission(key="first"))
    own = accepted.conversation_id

    known = look_up(user.pk, own, "second")
    assert (known.load, known.has_run, known.is_repeat) == (1, True, False)
    assert look_up(user.pk, own, "first").is_repeat
    assert look_up(user.pk, uuid.uuid4(), "first").is_repeat

    Run.objects.update(state=RunState.WAITING_APPROVAL)
    known = look_up(user.pk, own, "second")
    assert (known.load, known.has_run) == (0, True)


def test_a_message_that_waits(submission, user):
    own = accept(submission()).conversation_id
    accept(submission(conversation_id=own, key="waits"))

    known = look_up(user.pk, own, "waits")

    assert known.has_queue
    assert known.is_repeat


def test_another_users_or_a_deleted_conversation(submission, user, other):
    own = accept(submission(key="k")).conversation_id

    assert look_up(other.pk, own).is_anothers
    assert not look_up(other.pk, own, "k").is_repeat
    assert not look_up(user.pk, own).is_anothers

    Conversation.objects.update(deleted_at=Now())
    assert look_up(user.pk, own).is_anothers


def test_a_deleted_conversation_of_that_thread(submission, user, other):
    accept(submission())
    Conversation.objects.update(deleted_at=Now(), thread_id="t")

    assert look_up(user.pk, uuid.uuid4(), "k", "t").is_anothers
    assert not look_up(other.pk, uuid.uuid4(), "k", "t").is_anothers
    assert not look_up(user.pk, uuid.uuid4(), "k", "").is_anothers
