"""Profiles that are rows: in place of the settings', their keys, and the rotation."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from ai_assistant import conf
from ai_assistant.configuration.profiles import keep_key, key_of, offered_profiles
from ai_assistant.configuration.rows import refresh
from ai_assistant.models import AuditEntry, Profile
from ai_assistant.text.redaction.redact import redact

pytestmark = [pytest.mark.django_db, pytest.mark.row("V02")]

KEY = "sk-own-0123456789abcdef"


def stored(name="mine", key="", **fields):
    row = Profile(name=name, **{"model": "openai/x", **fields})
    keep_key(row, key)
    row.save()
    refresh()
    return row


class TestRows:
    def test_row_takes_the_place_of_the_settings_profile(self, settings):
        own = {"MODEL": "openai/y", "API_KEY": "theirs", "SUGGESTIONS": ["Help"]}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": {"default": own}}

        row = stored("default", KEY, label="Ours", first_byte_s=5)

        assert conf.profile() == {
            "LABEL": "Ours",
            "MODEL": "openai/x",
            "API_KEY": KEY,
            "FIRST_BYTE_S": 5.0,
            "SUGGESTIONS": ["Help"],
            "ROW": row.pk,
        }
        assert offered_profiles() == {"default": "Ours"}

    def test_each_field_of_a_row_counts(self):
        row = stored(
            label="Ours",
            provider="direct",
            api_base="https://models.example.com/v1",
            reasoning="low",
            window_tokens=64_000,
            first_byte_s=5,
            idle_s=6,
            model_call_s=7,
            fallback="default",
            input_usd_per_mtok="0.25",
            output_usd_per_mtok="2",
            options={"temperature": 0},
        )

        assert conf.profile("mine") == {
            "LABEL": "Ours",
            "PROVIDER": "direct",
            "MODEL": "openai/x",
            "API_BASE": "https://models.example.com/v1",
            "REASONING": "low",
            "WINDOW_TOKENS": 64_000,
            "FIRST_BYTE_S": 5.0,
            "IDLE_S": 6.0,
            "MODEL_CALL_S": 7.0,
            "FALLBACK": "default",
            "INPUT_USD_PER_MTOK": 0.25,
            "OUTPUT_USD_PER_MTOK": 2.0,
            "OPTIONS": {"temperature": 0},
            "ROW": row.pk,
        }

    def test_row_that_is_switched_off_switches_the_settings_profile_off(self, settings):
        profiles = {"default": {"MODEL": "y"}, "small": {"MODEL": "z"}}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": profiles}

        stored("small", is_active=False)

        assert set(conf.profiles()) == {"default"}

    def test_change_and_deletion_hold_at_once(self):
        row = stored()
        row.model = "openai/other"
        row.save()
        refresh()
        assert conf.profile("mine")["MODEL"] == "openai/other"

        row.delete()
        refresh()
        assert "mine" not in conf.profiles()

    @pytest.mark.django_db(transaction=True)
    def test_nothing_more_is_asked_until_something_changes(
        self, django_assert_num_queries
    ):
        stored()

        with django_assert_num_queries(0):
            refresh()
            assert conf.profile("mine")

    @pytest.mark.parametrize("is_active", [True, False])
    def test_keys_of_rows_are_redacted(self, is_active):
        stored(key=KEY, is_active=is_active)

        assert redact(f"It is {KEY}.") == "It is [redacted]."


class TestRotation:
    def rotate(self):
        out = StringIO()
        call_command("assistant_keys", "rotate", stdout=out)
        return out.getvalue()

    def test_former_secret_key_is_not_needed_after_it(self, settings):
        row = stored(key=KEY)
        before = row.api_key_encrypted
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "a new one"

        assert self.rotate() == "1 keys encrypted anew.\n"

        settings.SECRET_KEY_FALLBACKS = []
        row.refresh_from_db()
        assert row.api_key_encrypted != before
        assert key_of(row).value == KEY
        assert AuditEntry.objects.get().action == "keys.rotated"

    def test_key_that_cannot_be_read_is_named(self, settings):
        stored("lost", KEY)
        settings.SECRET_KEY = "a new one"
        stored("kept", KEY)

        with pytest.raises(CommandError, match="cannot be read: lost"):
            self.rotate()
