import pytest
from django.core.checks import run_checks

from ai_assistant.checks import check_assistant

NAMES = "docs/settings.md lists every name with its type and default."


class TestSite:
    def test_demo_has_nothing_wrong(self):
        assert run_checks(tags=["ai_assistant"]) == []

    def test_nothing_without_the_setting(self, settings):
        settings.AI_ASSISTANT = {}
        del settings.CHANNEL_LAYERS

        assert check_assistant() == []

    def test_nothing_if_switched_off(self, settings, assistant):
        assistant(ENABLED=False)
        del settings.CHANNEL_LAYERS

        assert check_assistant() == []


class TestForm:
    def test_no_dict(self, settings, only):
        settings.AI_ASSISTANT = [("ENABLED", True)]

        assert only() == (
            "ai_assistant.E001",
            "AI_ASSISTANT is a list, not a dict. | "
            'Write AI_ASSISTANT = {"ENABLED": True, ...}.',
        )

    def test_unknown_name(self, assistant, only):
        assistant(MODEL="x")

        assert only() == (
            "ai_assistant.E002",
            "AI_ASSISTANT has no setting 'MODEL'. | "
            f"Remove it, or correct its name. {NAMES}",
        )

    def test_unknown_name_is_told_though_off(self, settings):
        settings.AI_ASSISTANT = {"ENABLE": True}

        assert [message.id for message in check_assistant()] == ["ai_assistant.E002"]


class TestType:
    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            ("ENABLED", 1, "True or False"),
            ("MAX_STEPS", 2.5, "a whole number"),
            ("MAX_STEPS", True, "a whole number"),
            ("LEASE_S", "10", "a number"),
            ("EXECUTOR", None, "a text"),
            ("PROFILES", [], "a dict"),
            ("ALLOWED_ORIGINS", "https://a.example", "a list of texts"),
            ("ALLOWED_ORIGINS", [1], "a list of texts"),
            ("WRITE_TIMEOUT_S", "5", "a number or None"),
        ],
    )
    def test_wrong(self, assistant, only, name, value, wanted):
        assistant(**{name: value})

        assert only() == (
            "ai_assistant.E003",
            f"AI_ASSISTANT[{name!r}] is {value!r}, not {wanted}. | "
            f"Give {wanted}, or leave it out. {NAMES}",
        )

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("LEASE_S", 3),
            ("WRITE_TIMEOUT_S", None),
            ("WRITE_TIMEOUT_S", 2),
            ("ALLOWED_ORIGINS", ("https://a.example",)),
        ],
    )
    def test_right(self, assistant, name, value):
        assistant(**{name: value})

        assert check_assistant() == []


class TestValue:
    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            ("EXECUTOR", "celery", "one of 'web', 'worker'"),
            ("BACKGROUND", "no", "one of 'auto', 'celery', 'threads'"),
            ("HTMX", "2", "one of 'auto', 'vendored', 'none'"),
            ("LAUNCHER", "right", "one of 'end', 'start', 'none'"),
            ("MAX_STEPS", 0, "more than 0"),
            ("WRITE_TIMEOUT_S", -1, "more than 0"),
            ("MODEL_RETRIES", -1, "0 or more"),
        ],
    )
    def test_wrong(self, assistant, only, name, value, wanted):
        assistant(**{name: value})

        assert only() == (
            "ai_assistant.E004",
            f"AI_ASSISTANT[{name!r}] is {value!r}, not {wanted}. | Give {wanted}.",
        )

    def test_a_shortcut_that_is_none(self, assistant, only):
        assistant(SHORTCUTS=["Ctrl+Shift+A", "A"])

        wanted = "letters, digits or F keys with Ctrl or Alt, as 'Ctrl+Shift+A'"
        assert only() == (
            "ai_assistant.E004",
            f"AI_ASSISTANT['SHORTCUTS'] is 'A', not {wanted}. | Give {wanted}.",
        )

    def test_no_retries_is_a_choice(self, assistant):
        assistant(MODEL_RETRIES=0)

        assert check_assistant() == []
