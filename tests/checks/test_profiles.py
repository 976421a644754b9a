import sys

import pytest

from ai_assistant.checks import check_assistant

DEFAULT = "AI_ASSISTANT['PROFILES']['default']"


class TestForm:
    def test_no_default(self, assistant, only):
        assistant(PROFILES={"fast": {"MODEL": "x"}})

        assert only() == (
            "ai_assistant.E010",
            "AI_ASSISTANT['PROFILES'] has no profile 'default'. | "
            "Add it: a conversation uses it unless its user chooses another one.",
        )

    def test_no_dict(self, assistant, only):
        assistant(PROFILES={"default": "openai/x"})

        assert only() == (
            "ai_assistant.E010",
            f"{DEFAULT} is 'openai/x', not a dict. | "
            "Give a dict; docs/settings.md shows a profile.",
        )

    @pytest.mark.parametrize(
        ("key", "value", "shown", "wanted"),
        [
            ("MODEL", 5, "5", "a string"),
            ("OPTIONS", [], "[]", "a dict"),
            ("API_KEY", b"secret", "'...'", "a string"),
        ],
    )
    def test_wrong_type(self, profile, only, key, value, shown, wanted):
        profile(**{key: value})

        assert only() == (
            "ai_assistant.E010",
            f"{DEFAULT}[{key!r}] is {shown}, not {wanted}. | "
            f"Give {wanted}; docs/settings.md shows a profile.",
        )

    @pytest.mark.parametrize("setting", ["TITLE_PROFILE", "SUMMARY_PROFILE"])
    def test_form_small_calls_by_a_profile_that_is_not_there(
        self, assistant, only, setting
    ):
        assistant(PROFILES={"default": {"MODEL": "x"}}, **{setting: "small"})

        assert only() == (
            "ai_assistant.E010",
            f"AI_ASSISTANT['{setting}'] is 'small', which is no profile. | "
            "Use one of ['default'], or '' for the one that has answered.",
        )

    @pytest.mark.parametrize("window", ["8000", 0, -1, True, 8000.0])
    def test_form_of_a_window_that_is_no_number(self, profile, only, window):
        profile(MODEL="openai/x", WINDOW_TOKENS=window)

        assert only() == (
            "ai_assistant.E010",
            f"{DEFAULT}['WINDOW_TOKENS'] is {window!r}, not a number above 0. | "
            "Give a number above 0; docs/settings.md shows a profile.",
        )

    @pytest.mark.parametrize("seconds", ["5", 0, True])
    def test_form_of_a_time_that_is_none(self, profile, only, seconds):
        profile(MODEL="openai/x", FIRST_BYTE_S=seconds)

        assert only()[1].startswith(
            f"{DEFAULT}['FIRST_BYTE_S'] is {seconds!r}, not a number above 0."
        )


class TestModel:
    @pytest.mark.row("V02")
    def test_missing(self, profile, only):
        profile(LABEL="None yet")

        assert only() == (
            "ai_assistant.W011",
            f"{DEFAULT}['MODEL'] is not set: no message can be answered. | "
            "Set it to a litellm model name, for example 'openai/gpt-5-mini', or add "
            "a model profile in the admin.",
        )

    def test_model_is_enough(self, profile):
        profile(MODEL="openai/x")

        assert check_assistant() == []


class TestKey:
    @pytest.fixture(autouse=True)
    def no_keys(self, monkeypatch):
        monkeypatch.delenv("MY_KEY", raising=False)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def test_variable_not_set(self, profile, only):
        profile(MODEL="openai/x", API_KEY_ENV="MY_KEY")

        assert only() == (
            "ai_assistant.W014",
            f"The environment variable 'MY_KEY', which {DEFAULT}['API_KEY_ENV'] names, "
            "is not set. | Set it to the key of the model's provider, where the server "
            "starts.",
        )

    @pytest.mark.parametrize("variable", ["MY_KEY", "OPENAI_API_KEY"])
    def test_variable_set(self, profile, monkeypatch, variable):
        monkeypatch.setenv(variable, "secret")
        profile(MODEL="openai/x", API_KEY_ENV="MY_KEY")

        assert check_assistant() == []


class TestProvider:
    def test_provider_cannot_be_imported(self, profile, only):
        profile(PROVIDER="shop.Provider", MODEL="x")

        assert only() == (
            "ai_assistant.E012",
            f"{DEFAULT}['PROVIDER'] names 'shop.Provider', which cannot be imported. | "
            "Give 'direct', 'litellm' or the dotted path of a class, and install what "
            "it imports.",
        )

    def test_no_subclass(self, profile, only):
        profile(PROVIDER="decimal.Decimal", MODEL="x")

        assert only() == (
            "ai_assistant.E012",
            f"{DEFAULT}['PROVIDER'] names 'decimal.Decimal', which is not a subclass of "
            "ai_assistant.types.Provider. | Give it that base class.",
        )

    @pytest.mark.parametrize(
        ("provider", "package", "extra"),
        [("litellm", "litellm", "litellm"), ("direct", "aiohttp", "openai")],
    )
    def test_package_missing(
        self, profile, only, monkeypatch, provider, package, extra
    ):
        monkeypatch.setattr("ai_assistant.checks.profiles.find_spec", lambda name: None)
        profile(MODEL="openai/x", PROVIDER=provider)

        assert only() == (
            "ai_assistant.E013",
            f"{DEFAULT} needs the package {package!r}, which is not installed. | "
            f"Install it: pip install 'ai-assistant[{extra}]'.",
        )

    @pytest.mark.parametrize("provider", ["litellm", "direct"])
    def test_package_is_not_imported(self, profile, provider):
        profile(MODEL="openai/x", PROVIDER=provider)
        packages = {"litellm", "aiohttp", "orjson"}
        before = packages & set(sys.modules)

        check_assistant()

        assert packages & set(sys.modules) == before
