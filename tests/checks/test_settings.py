import pytest
from django.core.checks import run_checks

from ai_assistant import conf
from ai_assistant.checks import check_assistant

CORRECT = "Remove it, or correct its name."
NAMES = "docs/settings.md lists every name with its type and default."


def given(name, value):
    """Return the setting: `given("LIMITS.STEPS", 3)` is that of a group."""
    for part in reversed(name.split(".")):
        value = {part: value}
    return value


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

    @pytest.mark.parametrize(
        ("options", "problem", "advice"),
        [
            ({"MODEL": "x"}, "['MODEL'] is not a setting.", CORRECT),
            ({"LIMITS": {"STEP": 3}}, "['LIMITS']['STEP'] is not a setting.", CORRECT),
            (
                {"RETENTION_DAYS": 3},
                "['RETENTION_DAYS'] is now "
                "AI_ASSISTANT['RETENTION']['CONVERSATION_DAYS'].",
                "Rename it.",
            ),
        ],
    )
    def test_unknown_name(self, assistant, only, options, problem, advice):
        assistant(**options)

        assert only() == (
            "ai_assistant.E002",
            f"AI_ASSISTANT{problem} | {advice} {NAMES}",
        )

    def test_group_that_is_no_dict(self, settings, only):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "LIMITS": 3}

        assert only() == (
            "ai_assistant.E003",
            "AI_ASSISTANT['LIMITS'] is 3, not a dict. | "
            f"Give a dict, or leave it out. {NAMES}",
        )

    def test_unknown_name_is_told_though_off(self, settings):
        settings.AI_ASSISTANT = {"ENABLE": True}

        assert [message.id for message in check_assistant()] == ["ai_assistant.E002"]


class TestType:
    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            ("ENABLED", 1, "True or False"),
            ("LIMITS.STEPS", 2.5, "a whole number"),
            ("LIMITS.STEPS", True, "a whole number"),
            ("LEASE_S", "10", "a number"),
            ("EXECUTOR", None, "a string"),
            ("PROFILES", [], "a dict"),
            ("ALLOWED_ORIGINS", "https://a.example", "a list of strings"),
            ("ALLOWED_ORIGINS", [1], "a list of strings"),
            ("TIMEOUTS.WRITE_S", "5", "a number or None"),
        ],
    )
    def test_wrong(self, assistant, only, name, value, wanted):
        assistant(**given(name, value))

        assert only() == (
            "ai_assistant.E003",
            f"{conf.typed(*name.split('.'))} is {value!r}, not {wanted}. | "
            f"Give {wanted}, or leave it out. {NAMES}",
        )

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("LEASE_S", 3),
            ("TIMEOUTS.WRITE_S", None),
            ("TIMEOUTS.WRITE_S", 2),
            ("ALLOWED_ORIGINS", ("https://a.example",)),
        ],
    )
    def test_right(self, assistant, name, value):
        assistant(**given(name, value))

        assert check_assistant() == []


class TestValue:
    @pytest.mark.parametrize(
        ("name", "value", "wanted"),
        [
            ("EXECUTOR", "celery", "one of 'web', 'worker'"),
            ("BACKGROUND", "no", "one of 'auto', 'celery', 'threads'"),
            ("PANEL.LAUNCHER", "right", "one of 'end', 'start', 'none'"),
            ("LIMITS.STEPS", 0, "more than 0"),
            ("TIMEOUTS.WRITE_S", -1, "more than 0"),
            ("LIMITS.MODEL_RETRIES", -1, "0 or more"),
        ],
    )
    def test_wrong(self, assistant, only, name, value, wanted):
        assistant(**given(name, value))

        assert only() == (
            "ai_assistant.E004",
            f"{conf.typed(*name.split('.'))} is {value!r}, not {wanted}. | Give {wanted}.",
        )

    def test_a_shortcut_that_is_none(self, assistant, only):
        assistant(PANEL={"SHORTCUTS": ["Ctrl+Shift+A", "A"]})

        wanted = "letters, digits or F keys with Ctrl or Alt, as 'Ctrl+Shift+A'"
        assert only() == (
            "ai_assistant.E004",
            f"AI_ASSISTANT['PANEL']['SHORTCUTS'] is 'A', not {wanted}. | Give {wanted}.",
        )

    def test_no_retries_is_a_choice(self, assistant):
        assistant(LIMITS={"MODEL_RETRIES": 0})

        assert check_assistant() == []
