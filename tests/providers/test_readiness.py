"""What a profile lacks, and one call that tries it."""

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers import readiness
from ai_assistant.providers.readiness import missing_of, try_model
from ai_assistant.types import Provider, ReplyEnd, TextDelta, Usage

KEYS = ("OPENAI_API_KEY", "MY_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE")


@pytest.fixture
def profile(settings, monkeypatch):
    """Set the default profile, where no key is in the environment."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)

    def change(**fields):
        own = {**settings.AI_ASSISTANT, "PROFILES": {"default": fields}}
        settings.AI_ASSISTANT = own

    return change


class TestMissing:
    @pytest.mark.parametrize(
        ("fields", "name"),
        [
            ({}, "AI_ASSISTANT['PROFILES']['default']['MODEL']"),
            ({"MODEL": "openai/x", "API_KEY_ENV": "MY_KEY"}, "MY_KEY"),
            ({"MODEL": "openai/x"}, "OPENAI_API_KEY"),
            ({"MODEL": "openai/x", "API_KEY": "k"}, ""),
            ({"MODEL": "openai/x", "API_BASE": "http://127.0.0.1:1"}, ""),
            ({"MODEL": "demo", "PROVIDER": "project.demo_model.DemoProvider"}, ""),
        ],
    )
    def test_missing_is_named(self, profile, fields, name):
        profile(**fields)

        assert missing_of("default") == name

    def test_key_of_the_environment_will_do(self, profile, monkeypatch):
        profile(MODEL="openai/x", API_KEY_ENV="MY_KEY")
        monkeypatch.setenv("MY_KEY", "k")

        assert missing_of("default") == ""

    def test_missing_package_is_named(self, profile, monkeypatch):
        profile(MODEL="bedrock/x", PROVIDER="litellm")
        monkeypatch.setattr(readiness, "is_litellm_installed", lambda: False)

        assert missing_of("default") == "litellm"

    def test_missing_profile_is_named(self, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": {}}

        assert missing_of("default") == "AI_ASSISTANT['PROFILES']['default']"


class Answers(Provider):
    """A model that says what its profile has, or fails so."""

    async def stream(self, request):
        if code := self.profile.get("FAILS"):
            raise ModelError(code, "for the operator")
        yield TextDelta(text=self.profile.get("SAYS", ""))
        yield ReplyEnd(finish_reason="stop", usage=Usage())


class TestTrial:
    def fields(self, **own):
        return {"MODEL": "x", "PROVIDER": f"{__name__}.Answers", **own}

    async def test_trial_tells_what_was_said(self):
        trial = await try_model(self.fields(SAYS=" OK "))

        assert (trial.ok, trial.text, trial.code) == (True, "OK", "")

    async def test_trial_of_a_silent_model_is_good_too(self):
        trial = await try_model(self.fields())

        assert trial.ok
        assert trial.text == "It ended without a word."

    async def test_trial_that_fails_has_a_sentence_and_a_detail(self):
        trial = await try_model(self.fields(FAILS="bad_key"))

        assert (trial.ok, trial.code, trial.detail) == (
            False,
            "bad_key",
            "for the operator",
        )
        assert "refused the key" in trial.text

    async def test_trial_without_a_model_is_not_configured(self):
        assert (await try_model({})).code == "not_configured"
