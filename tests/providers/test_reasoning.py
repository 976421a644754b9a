"""How much a model may think, in the words of its provider."""

import pytest

from ai_assistant.providers.reasoning import reasoning_options, reasoning_problem

CLAUDE, GEMINI = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"
GPT = "openai/gpt-5-mini"


def profile(model, reasoning="", **options):
    return {"MODEL": model, "REASONING": reasoning, "OPTIONS": options}


@pytest.mark.row("Z01")
class TestOptions:
    @pytest.mark.parametrize("model", [CLAUDE, GEMINI, "bedrock/anthropic.claude-x"])
    def test_budget_is_tokens_of_a_reply_of_16000(self, model):
        assert reasoning_options(profile(model, 8_000)) == {
            "thinking": {"type": "enabled", "budget_tokens": 8_000},
            "max_tokens": 16_000,
        }

    @pytest.mark.parametrize(
        ("tokens", "effort"), [(1_500, "low"), (8_000, "medium"), (20_000, "high")]
    )
    def test_budget_is_an_effort_elsewhere(self, tokens, effort):
        assert reasoning_options(profile(GPT, tokens)) == {"reasoning_effort": effort}

    @pytest.mark.parametrize("model", [CLAUDE, GPT])
    def test_effort_is_one_everywhere(self, model):
        assert reasoning_options(profile(model, "high")) == {"reasoning_effort": "high"}

    def test_options_of_the_profile_go_before(self):
        own = {"reasoning_effort": "low", "temperature": 1}

        assert reasoning_options(profile(GPT, "high", **own)) == own

    def test_agent_goes_before_the_profile(self):
        found = reasoning_options(profile(CLAUDE, "low"), "8000")

        assert found["thinking"]["budget_tokens"] == 8_000

    def test_nothing_is_asked_of_a_profile_without(self):
        assert reasoning_options(profile(GPT)) == {}


@pytest.mark.row("Z02")
class TestProblem:
    @pytest.mark.parametrize("level", ["", "low", "high", 8_000, "8000", 15_999])
    def test_right_ones(self, level):
        assert reasoning_problem(profile(CLAUDE, level)) == ""

    @pytest.mark.parametrize("level", ["much", 100, True, 1.5, ["low"]])
    def test_wrong_ones_are_said(self, level):
        assert repr(level) in reasoning_problem(profile(CLAUDE, level))

    @pytest.mark.parametrize(("most", "level"), [(None, 16_000), (4_000, 8_000)])
    def test_budget_leaves_room_for_the_answer(self, most, level):
        options = {"max_tokens": most} if most else {}

        said = reasoning_problem(profile(CLAUDE, level, **options))

        assert "max_tokens" in said
