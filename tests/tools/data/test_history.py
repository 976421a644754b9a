"""The admin's log of one object, to those who may see the object."""

import pytest
from django.contrib.admin.models import CHANGE, LogEntry

from ai_assistant import ModelRetry
from tests.tools.data.reading import call


@pytest.fixture
def entries(boss, shop):
    return LogEntry.objects.log_actions(
        boss.pk,
        [shop.sea],
        CHANGE,
        [{"changed": {"fields": ["Title"]}}],
        single_object=True,
    )


class TestObjectHistory:
    def test_object_history_tells(self, reader, boss, shop, entries):
        data = call("object_history", reader, model="library.book", id=shop.sea.pk)

        assert data["total"] == 1
        (entry,) = data["entries"]
        told = (entry["user"], entry["action"], entry["message"])
        assert told == ("ada", "changed", "Changed Title.")

    def test_object_history_of_another_object(self, reader, shop, entries):
        data = call("object_history", reader, model="library.book", id=shop.waves.pk)

        assert (data["total"], data["entries"]) == (0, [])

    def test_object_history_needs_the_object(self, boss, shop):
        with pytest.raises(ModelRetry):
            call("object_history", boss, model="library.publisher", id=shop.hidden.pk)
        with pytest.raises(ModelRetry):
            call("object_history", boss, model="admin.logentry", id=1)
