"""Rows that are read by constant SQL are those that Django would have read."""

import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, models
from django.test.utils import CaptureQueriesContext, isolate_apps

from ai_assistant.engine.storage.branches import last_shown
from ai_assistant.models import Conversation, Run
from ai_assistant.models.raw_sql import (
    changed_row,
    has_row,
    is_plain,
    read_row,
    row_by_key,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return get_user_model().objects.create_user("ada", email="ada@example.com")


@pytest.fixture
def conversation(ada):
    return Conversation.objects.create(owner=ada, title="ä \U0001f600")


def fields(row):
    names = [field.attname for field in row._meta.concrete_fields]
    return {name: getattr(row, name) for name in names}


class TestReadRow:
    def test_row_is_as_django_reads_it(self, conversation):
        hex_or_uuid = Conversation._meta.pk.get_db_prep_value(
            conversation.pk, connection=connection
        )

        found = read_row(Conversation, "id = %s", [hex_or_uuid])

        assert fields(found) == fields(Conversation.objects.get())
        assert not found._state.adding
        assert found._state.db == "default"

    def test_row_that_is_not_there(self):
        assert read_row(Conversation, "title = %s", ["none"]) is None

    def test_row_of_a_few_fields_reads_the_others_when_they_are_needed(
        self, conversation
    ):
        key = Conversation._meta.pk.get_db_prep_value(conversation.pk, connection)

        found = read_row(Conversation, "id = %s", [key], ("title",))

        assert found.get_deferred_fields() == fields(found).keys() - {"id", "title"}
        assert fields(found) == fields(Conversation.objects.get())

    @pytest.mark.parametrize("chosen", [None, 0, 1, 2])
    def test_run_that_is_shown_is_the_one_that_django_finds(
        self, ada, conversation, chosen
    ):
        other = Conversation.objects.create(owner=ada)
        for place in (conversation, conversation, conversation, other):
            Run.objects.create(
                conversation=place,
                user=ada,
                state="succeeded",
                state_data={"a": [1]},
                idempotency_key=uuid.uuid4().hex,
            )
        own = list(conversation.runs.order_by("created_at"))
        at_once = own[1].created_at  # then the greater key is the newer one
        Run.objects.filter(pk=own[2].pk).update(created_at=at_once)
        conversation.shown_run = None if chosen is None else own[chosen]
        conversation.save()

        found = last_shown(conversation.pk)

        assert found == conversation.runs.shown().first()
        assert found.state_data == {"a": [1]}
        assert last_shown(uuid.uuid4()) is None

    @pytest.mark.parametrize("is_old", [False, True], ids=["new", "old SQLite"])
    def test_changed_row_is_as_it_is_then(self, conversation, is_old, monkeypatch):
        if is_old:
            features = connection.features
            monkeypatch.setattr(features, "can_return_columns_from_insert", False)
        own = Conversation._meta.get_field("owner").get_db_prep_value(
            conversation.owner_id, connection=connection
        )
        found = changed_row(Conversation, "title = %s", "owner_id = %s", ["New", own])

        assert fields(found) == fields(Conversation.objects.get())
        assert found.title == "New"


class TestRowByKey:
    def test_user_is_as_django_reads_it(self, ada):
        found = row_by_key(User, ada.pk)

        assert fields(found) == fields(User.objects.get())

    @pytest.mark.parametrize("key", [0, None])
    def test_key_without_a_row(self, key):
        assert row_by_key(User, key) is None

    def test_manager_that_leaves_rows_out_is_asked(self, conversation, monkeypatch):
        class Titled(models.Manager):
            def get_queryset(self):
                return super().get_queryset().exclude(title="")

        manager = Titled()
        manager.model = Conversation
        is_plain.cache_clear()
        monkeypatch.setattr(Conversation._meta, "default_manager", manager)
        try:
            assert row_by_key(Conversation, conversation.pk) == conversation
            Conversation.objects.update(title="")
            assert row_by_key(Conversation, conversation.pk) is None
        finally:
            is_plain.cache_clear()

    @isolate_apps("tests.testapp")
    def test_row_of_two_tables_is_left_to_django(self):
        class Person(User):
            class Meta:
                app_label = "testapp"

        assert not is_plain(Person)
        assert is_plain(User)
        assert is_plain(Group)

    def test_key_of_no_number_is_refused(self):
        with pytest.raises((TypeError, ValueError)):
            row_by_key(User, uuid.uuid4().hex)

    def test_row_is_there(self, ada):
        assert has_row(User, ada.pk)
        assert not has_row(User, 0)

    def test_session_is_there(self):
        store = SessionStore()
        store.create()

        assert has_row(SessionStore.get_model_class(), store.session_key)
        assert not has_row(SessionStore.get_model_class(), "none")

    def test_one_statement(self, ada):
        with CaptureQueriesContext(connection) as seen:
            row_by_key(User, ada.pk)

        assert len(seen) == 1
