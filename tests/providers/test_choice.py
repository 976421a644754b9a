"""Which provider a profile gets without naming one, and by its short names."""

import pytest

from ai_assistant.providers import base
from ai_assistant.providers.base import DIRECT, LITELLM, provider_path

OWN = "http://127.0.0.1:1/v1"


def chosen(model, **more):
    return provider_path({"MODEL": model, **more})


class TestChosen:
    @pytest.mark.parametrize(
        "model",
        [
            *("openai/gpt-5-mini", "openai/gpt-4o", "openrouter/anthropic/claude-x"),
            *("mistral/mistral-large-latest", "deepseek/deepseek-chat", "groq/x"),
        ],
    )
    @pytest.mark.row("V09")
    def test_direct_where_it_speaks_the_protocol(self, model):
        assert chosen(model) == DIRECT

    @pytest.mark.parametrize(
        "model",
        [
            *("anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "azure/mine"),
            *("gpt-4o", "ollama_chat/qwen3", "no-such-vendor/x"),
        ],
    )
    def test_litellm_for_all_others(self, model):
        assert chosen(model) == LITELLM

    @pytest.mark.parametrize(
        "model",
        [
            *(
                "openai/gpt-5.4",
                "openai/gpt-5.6-terra",
                "openai/gpt-6",
                "openai/o3-pro",
            ),
            *("openai/gpt-5-codex", "openai/responses/gpt-5", "openai/gpt-5.2-pro"),
        ],
    )
    def test_litellm_for_what_openai_serves_by_responses(self, model):
        assert chosen(model) == LITELLM
        assert chosen(model, API_BASE=OWN) == DIRECT

    def test_litellm_for_options_that_it_alone_knows(self):
        assert chosen("openai/x", OPTIONS={"temperature": 0}) == DIRECT
        assert chosen("openai/x", OPTIONS={"fallbacks": ["y"]}) == LITELLM


class TestInstalled:
    @pytest.fixture
    def only(self, monkeypatch):
        def install(*names):
            here = {"direct": "is_direct_installed", "litellm": "is_litellm_installed"}
            for name, asked in here.items():
                monkeypatch.setattr(base, asked, lambda name=name: name in names)

        return install

    def test_litellm_in_place_of_direct(self, only):
        only("litellm")

        assert chosen("openai/gpt-5-mini") == LITELLM

    @pytest.mark.parametrize(
        ("model", "path"),
        [
            ("openai/gpt-5.4", DIRECT),
            ("ollama_chat/qwen3", DIRECT),
            ("anthropic/claude-sonnet-4-5", LITELLM),
        ],
    )
    def test_direct_in_place_of_litellm_if_it_knows_the_server(self, only, model, path):
        only("direct")

        assert chosen(model) == path

    def test_installed_neither(self, only):
        only()

        assert chosen("openai/gpt-5-mini") == DIRECT


class TestNamed:
    @pytest.mark.parametrize(
        ("name", "path"), [("direct", DIRECT), ("litellm", LITELLM)]
    )
    def test_named_in_short(self, name, path):
        assert chosen("openai/x", PROVIDER=name) == path
        assert chosen("anthropic/x", PROVIDER=name) == path

    def test_empty_is_unnamed(self):
        assert chosen("openai/x", PROVIDER="") == DIRECT

    def test_dotted(self):
        path = "ai_assistant.testing.ScriptedProvider"

        assert chosen("openai/x", PROVIDER=path) == path
