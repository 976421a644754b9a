"""Rows that are inserted by constant SQL are those that Django would have inserted."""

import uuid
from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from ai_assistant.models import Conversation, Message, Run
from ai_assistant.models.event import RunEvent
from ai_assistant.models.raw_sql import insert_row, insert_rows
from ai_assistant.models.run import Step
from ai_assistant.models.usage import UsageLedger

pytestmark = pytest.mark.django_db

CONTEXT = {"dropped": ["a"], "browser": [{"label": "ä \U0001f600", "n": 1.5}]}


@pytest.fixture
def conversation():
    user = get_user_model().objects.create_user("ada")
    return Conversation.objects.create(owner=user, title="Hello")


@pytest.fixture
def run(conversation):
    run = Run(
        conversation=conversation,
        user_id=conversation.owner_id,
        idempotency_key="k",
        context=CONTEXT,
        token_id=uuid.uuid4(),
    )
    insert_row(run)
    return run


def fields(row):
    names = [field.attname for field in row._meta.concrete_fields]
    return {name: getattr(row, name) for name in names}


class TestOneRow:
    def test_one_row_reads_back_as_it_was(self, run):
        assert fields(Run.objects.get(pk=run.pk)) == fields(run)
        assert run.created_at is not None

    def test_one_row_has_the_key_and_the_time_that_the_database_gave_it(self, run):
        ledger = UsageLedger(run=run, usd=Decimal("0.00000001"), cost_usd=None)

        insert_row(ledger)

        assert fields(UsageLedger.objects.get()) == fields(ledger)

    def test_one_row_names_of_sql_are_quoted(self, run):
        message = Message(conversation=run.conversation, run=run, role="assistant")
        Message.objects.append(message)
        step = Step(run=run, index=3, message=message, finish_reason="stop", model="m")

        insert_row(step)

        assert Step.objects.get(pk=step.pk).index == 3

    def test_one_row_can_be_saved_later(self, run):
        run.error_text = "changed"
        run.save()

        assert Run.objects.get().error_text == "changed"

    def test_one_row_that_is_there_already_is_refused(self, run):
        with pytest.raises(IntegrityError), transaction.atomic():
            insert_row(run)


class TestMessages:
    def test_get_their_place_in_one_statement(self, run):
        said = [Message(conversation=run.conversation, run=run) for _ in range(3)]

        for message in said:
            with CaptureQueriesContext(connection) as queries:
                Message.objects.append(message)
            assert len(queries) == 1

        places = Message.objects.order_by("position").values_list("pk", "position")
        assert list(places) == [(one.pk, n) for n, one in enumerate(said)]


class TestManyRows:
    def test_many_rows_are_one_statement(self, run):
        events = [
            RunEvent(run=run, seq=seq, type="CUSTOM", payload=CONTEXT, epoch=1)
            for seq in range(1, 5)
        ]

        with CaptureQueriesContext(connection) as queries:
            insert_rows(events)

        assert len(queries) == 1
        stored = RunEvent.objects.order_by("seq")
        assert [event.seq for event in stored] == [1, 2, 3, 4]
        assert all(event.payload == CONTEXT and event.created_at for event in stored)

    def test_none_are_no_statement(self):
        with CaptureQueriesContext(connection) as queries:
            insert_rows([])

        assert len(queries) == 0
