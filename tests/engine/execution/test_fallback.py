"""The model of a profile cannot begin to answer: that of its FALLBACK does."""

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.providers.errors import FINAL, SENTENCES, fallback_text
from ai_assistant.testing import ScriptedProvider, call, reasoning, reply
from ai_assistant.types import Usage
from tests.engine.calls.test_versions import approve
from tests.engine.conftest import facts, resume, said

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("V08")]

PROVIDER = "ai_assistant.testing.ScriptedProvider"
FALLING = sorted({*SENTENCES} - FINAL)


@pytest.fixture
def other():
    """The model of the fallback."""
    return ScriptedProvider()


@pytest.fixture
def profiles(options, script, other):
    """Give the default profile a fallback; further ones by name."""

    def use(**more):
        own = {"PROVIDER": PROVIDER, "MODEL": "large", "SCRIPT": script}
        small = {"PROVIDER": PROVIDER, "MODEL": "small", "SCRIPT": other}
        options(
            PROFILES={
                "default": {**own, "LABEL": "Large", "FALLBACK": "small"},
                "small": {**small, "LABEL": "Small"},
                **more,
            }
        )

    use()
    return use


@pytest.mark.usefixtures("profiles")
class TestFallback:
    @pytest.mark.parametrize("code", FALLING)
    def test_answers_after_any_failure_before_the_first_token(
        self, play, script, other, code
    ):
        script.add(ModelError(code, "detail", retryable=True))
        other.add("Here I am.")

        run = play()

        assert (run.state, said(run)) == ("succeeded", "Here I am.")
        assert (run.profile, run.fallback) == ("default", "small")
        assert run.fallback_code == code
        assert facts(run).count("aia.fallback") == 1
        assert len(script.requests) == 1  # a person waits: it is not tried again

    @pytest.mark.parametrize("code", FALLING)
    @pytest.mark.parametrize("begun", ["Half an ", reasoning("Hm.")])
    def test_is_not_asked_after_the_first_token(self, play, script, other, code, begun):
        script.add([begun, ModelError(code, retryable=True)])

        run = play()

        assert (run.state, run.error_code, run.fallback) == ("failed", code, "")
        assert other.requests == []

    @pytest.mark.parametrize("code", sorted(FINAL))
    def test_is_not_asked_what_no_model_may_answer(self, play, script, other, code):
        script.add(ModelError(code))

        assert play().error_code == code
        assert other.requests == []

    def test_is_sent_the_same_prompt_with_its_own_address(
        self, play, script, other, profiles
    ):
        script.add(ModelError("provider_down"))
        other.add("Yes.")
        profiles(
            small={
                "PROVIDER": PROVIDER,
                "MODEL": "small",
                "SCRIPT": other,
                "API_BASE": "http://small.test/v1",
                "API_KEY": "key-of-small",
                "OPTIONS": {"temperature": 0},
            }
        )

        play("What is new?")

        (before,), (after,) = script.requests, other.requests
        assert (after.messages, after.tools) == (before.messages, before.tools)
        assert (before.model, before.api_key) == ("large", "")
        assert (after.model, after.api_base) == ("small", "http://small.test/v1")
        assert (after.api_key, after.options) == ("key-of-small", {"temperature": 0})

    def test_is_never_sent_the_key_of_a_profile_whose_provider_is_gone(
        self, play, other, options
    ):
        first = {"PROVIDER": "nowhere.Provider", "MODEL": "large", "API_KEY": "key-1"}
        own = {"PROVIDER": PROVIDER, "MODEL": "small", "SCRIPT": other}
        options(PROFILES={"default": {**first, "FALLBACK": "small"}, "small": own})
        other.add("Here I am.")

        run = play("What is new?")

        (asked,) = other.requests
        assert (run.state, run.fallback_code) == ("succeeded", "not_configured")
        assert (asked.model, asked.api_key) == ("small", "")
        assert asked.messages[-1]["content"] == "What is new?"

    def test_answers_a_later_step_with_what_was_said_by_then(
        self, play, script, other, offer
    ):
        def look() -> str:
            """Look."""
            return "seen"

        offer(look)
        script.add(reply("", call("look")), ModelError("provider_down"))
        other.add("Done.")

        run = play()

        assert said(run) == "|Done."
        assert other.requests[0].messages[-1]["role"] == "tool"

    def test_answers_the_rest_of_the_run(self, play, script, other, offer):
        def look() -> str:
            """Look."""
            return "seen"

        offer(look)
        script.add(ModelError("rate_limited", retry_after_s=3600))
        other.add(reply("", call("look")), "Done.")

        run = play()

        assert (run.state, said(run)) == ("succeeded", "|Done.")
        assert len(script.requests) == 1
        assert facts(run).count("aia.fallback") == 1

    def test_answers_on_after_a_wait(self, play, script, other, offer):
        def note() -> str:
            """Note."""
            return "noted"

        offer(note, effect="write", policy="ask")
        script.add(ModelError("unreachable"))
        other.add(reply("", call("note")), "Done.")

        waiting = play()
        assert waiting.state == "waiting_approval"
        approve(waiting)
        run = resume(waiting)

        assert (run.state, said(run)) == ("succeeded", "|Done.")
        assert len(script.requests) == 1

    def test_next_message_asks_the_first_model_again(self, play, script, other):
        script.add(ModelError("provider_down"), "I am back.")
        other.add("Here I am.")

        first = play()
        second = play("And now?", conversation_id=first.conversation_id)

        assert (said(second), second.fallback) == ("I am back.", "")

    def test_failure_of_the_last_one_is_told(self, play, script, other):
        script.add(ModelError("provider_down"))
        other.add(ModelError("bad_key"))

        run = play()

        assert (run.state, run.error_code, run.fallback) == ("failed", "bad_key", "")

    def test_circle_ends(self, play, script, other, profiles):
        profiles(
            small={
                "PROVIDER": PROVIDER,
                "MODEL": "small",
                "SCRIPT": other,
                "FALLBACK": "default",
            }
        )
        script.add(ModelError("provider_down"))
        other.add(ModelError("provider_down"))

        assert play().error_code == "provider_down"
        assert (len(script.requests), len(other.requests)) == (1, 1)

    def test_profile_that_is_gone_leaves_the_failure(self, play, options, script):
        own = {"PROVIDER": PROVIDER, "MODEL": "large", "SCRIPT": script}
        options(PROFILES={"default": {**own, "FALLBACK": "gone"}})
        script.add(ModelError("provider_down"))

        run = play()

        assert (run.state, run.error_code) == ("failed", "provider_down")

    def test_usage_is_that_of_the_model_that_answered(self, play, script, other):
        Budget.objects.create(scope="site", window="day", tokens=1_000_000)
        script.add(ModelError("bad_key"))
        other.add(reply("Yes.", usage=Usage(input_tokens=20, output_tokens=3)))

        run = play()

        rows = UsageLedger.objects.filter(run=run).order_by("pk")
        assert [(row.state, row.tokens) for row in rows] == [
            ("released", 0),
            ("settled", 23),
        ]
        assert (rows[1].profile, rows[1].model) == ("small", "small")


class TestSentence:
    @pytest.mark.parametrize("code", FALLING)
    def test_names_both_models(self, code):
        text = fallback_text(code, model="Large", other="Small")

        assert "Large" in text
        assert "Small" in text
