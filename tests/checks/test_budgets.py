import pytest

from ai_assistant.checks import check_assistant

HINT = (
    "Write it like {'scope': 'user', 'window': 'day', 'tokens': 100000}; "
    "docs/budgets.md lists the keys."
)
PRICED = {"INPUT_USD_PER_MTOK": 1, "OUTPUT_USD_PER_MTOK": 2.5}


def ids():
    return [message.id for message in check_assistant()]


class TestBudgets:
    @pytest.mark.parametrize(
        ("budget", "sentence"),
        [
            ({"scope": "user"}, "A budget needs a valid scope and a valid window."),
            (
                {"scope": "user", "window": "run", "tokens": 1},
                "The scope and the window of an answer only go together.",
            ),
            (
                {"scope": "group", "window": "day", "tokens": 1},
                "Name a group for the budget of a group, and for no other.",
            ),
            (
                {"scope": "site", "window": "day", "tokens": 1, "user": "ada"},
                "Only a budget of users can be for one user.",
            ),
            (
                {"scope": "site", "window": "day", "tokens": 0},
                "Give tokens, US dollars or both, above 0.",
            ),
            (
                {"scope": "site", "window": "day"},
                "Give tokens, US dollars or both, above 0.",
            ),
        ],
    )
    def test_budgets_that_makes_no_sense(self, assistant, only, budget, sentence):
        assistant(BUDGETS=[budget])

        assert only() == (
            "ai_assistant.E150",
            f"AI_ASSISTANT['BUDGETS'][0] is {budget!r}. {sentence} | {HINT}",
        )

    def test_unknown_key(self, assistant, only):
        good = {"scope": "user", "window": "day", "tokens": 9}
        assistant(BUDGETS=[good, {**good, "token": 1}])

        assert only() == (
            "ai_assistant.E150",
            f"AI_ASSISTANT['BUDGETS'][1] has no key 'token'. | {HINT}",
        )

    def test_budgets_that_are_no_dicts(self, assistant, only):
        assistant(BUDGETS=["day"])

        assert only()[0] == "ai_assistant.E003"
        assert "not a list of dicts" in only()[1]

    def test_good_ones(self, assistant):
        assistant(
            BUDGETS=[
                {"scope": "run", "window": "run", "tokens": 50_000},
                {"scope": "user", "window": "day", "tokens": 9, "user": "ada"},
                {"scope": "group", "window": "month", "group": "x", "tokens": 1},
            ]
        )

        assert ids() == []


class TestRates:
    @pytest.mark.parametrize("name", ["USER", "SITE", "API", "UNKNOWN_TOKENS"])
    def test_wrong_form(self, assistant, only, name):
        assistant(RATES={name: "20 a minute"})

        assert only() == (
            "ai_assistant.E151",
            f"AI_ASSISTANT['RATES'][{name!r}] is '20 a minute'. Give how many by second, "
            "minute, hour or day: '20/m'. | Leave it empty for no limit.",
        )


class TestPrices:
    @pytest.mark.parametrize(
        "prices",
        [
            {"INPUT_USD_PER_MTOK": 1},
            {**PRICED, "OUTPUT_USD_PER_MTOK": -1},
            {**PRICED, "OUTPUT_USD_PER_MTOK": "1"},
        ],
    )
    def test_wrong_ones(self, profile, only, prices):
        profile(MODEL="openai/x", **prices)

        assert only()[0] == "ai_assistant.E152"

    def test_money_that_nobody_can_count(self, assistant, profile, only):
        scripted = "ai_assistant.testing.ScriptedProvider"
        assistant(BUDGETS=[{"scope": "site", "window": "day", "usd": 1}])
        profile(MODEL="scripted", PROVIDER=scripted)

        assert only()[0] == "ai_assistant.W153"

        profile(MODEL="scripted", PROVIDER=scripted, **PRICED)
        assert ids() == []

    def test_litellm_may_know(self, assistant, profile):
        assistant(BUDGETS=[{"scope": "site", "window": "day", "usd": 1}])
        profile(MODEL="openai/gpt-5-mini")

        assert ids() == []
