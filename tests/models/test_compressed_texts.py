"""Texts that are compressed in their column are the same ones again."""

import json
import uuid

import pytest
from django.core import serializers
from django.db import connection

from ai_assistant import models

TEXT = "Words of a tool. “ÄÖ” 中文\n" * 500


@pytest.fixture
def stored(django_user_model):
    ada = django_user_model.objects.create_user("ada")
    own = models.Conversation.objects.create(id=uuid.uuid4(), owner=ada)
    return models.PromptText.objects.create(conversation=own, digest="d", text=TEXT)


@pytest.mark.django_db
class TestPromptText:
    def test_column_is_much_shorter_and_the_text_is_whole(self, stored):
        with connection.cursor() as cursor:
            cursor.execute("SELECT text FROM ai_assistant_prompttext")
            ((column,),) = cursor.fetchall()

        assert len(bytes(column)) < len(TEXT) / 10
        assert models.PromptText.objects.get().text == TEXT
        assert [*models.PromptText.objects.values_list("text", flat=True)] == [TEXT]

    def test_dump_has_the_text_and_loads(self, stored):
        dump = serializers.serialize("json", [stored])
        stored.delete()

        (loaded,) = serializers.deserialize("json", dump)
        loaded.save()

        assert json.loads(dump)[0]["fields"]["text"] == TEXT
        assert models.PromptText.objects.get().text == TEXT

    def test_half_a_character_is_replaced(self, stored):
        stored.text = "a\ud83db"
        stored.save()

        assert models.PromptText.objects.get().text == "a?b"
