"""Where each server is, and whose key it gets."""

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.litellm import ensure_loaded
from ai_assistant.providers.openai_compatible.servers import SERVERS, find_endpoint

OWN = "https://models.example.com/v1"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for server in SERVERS.values():
        for name in filter(None, (server.key_env, *server.base_env)):
            monkeypatch.delenv(name, raising=False)


def refused(model, **more):
    with pytest.raises(ModelError) as caught:
        find_endpoint(model, **more)
    assert (caught.value.code, caught.value.retryable) == ("not_configured", False)
    return caught.value.detail


class TestTable:
    @pytest.mark.parametrize("prefix", [n for n, one in SERVERS.items() if one.key_env])
    async def test_table_is_that_of_litellm(self, prefix, monkeypatch):
        server = SERVERS[prefix]
        monkeypatch.setenv(server.key_env, "sk-of-a-test")
        litellm = await ensure_loaded()

        # openai's and openrouter's stand in a longer function of it
        found = litellm.get_llm_provider(f"{prefix}/vendor/x")
        missing = litellm.validate_environment(f"{prefix}/x")["missing_keys"]

        assert found[1] == prefix
        assert missing == []
        assert found[3] in (None, server.base, server.base.replace("/v1", "/beta"))

    @pytest.mark.parametrize(
        ("model", "url", "name"),
        [
            ("openai/gpt-5-mini", "https://api.openai.com/v1", "gpt-5-mini"),
            ("gpt-5-mini", "https://api.openai.com/v1", "gpt-5-mini"),
            (
                "openrouter/openai/gpt-4o",
                "https://openrouter.ai/api/v1",
                "openai/gpt-4o",
            ),
            ("openrouter/auto", "https://openrouter.ai/api/v1", "openrouter/auto"),
            ("ollama_chat/qwen3", "http://localhost:11434/v1", "qwen3"),
        ],
    )
    def test_model_and_address(self, model, url, name, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-of-a-test")

        found = find_endpoint(model)

        assert (found.url, found.model) == (f"{url}/chat/completions", name)

    @pytest.mark.parametrize(
        ("base", "url"),
        [
            (OWN, f"{OWN}/chat/completions"),
            (f"{OWN}/", f"{OWN}/chat/completions"),
            (f"{OWN}/chat/completions", f"{OWN}/chat/completions"),
            (
                f"{OWN}/?api-version=preview",
                f"{OWN}/chat/completions?api-version=preview",
            ),
        ],
    )
    def test_table_address_of_a_base(self, base, url):
        assert find_endpoint("openai/x", base=base).url == url

    def test_model_of_an_unknown_vendor_is_passed_on_whole(self):
        assert find_endpoint("Qwen/Qwen3-8B", base=OWN).model == "Qwen/Qwen3-8B"

    @pytest.mark.parametrize("model", ["anthropic/x", "hosted_vllm/x"])
    def test_no_address(self, model):
        assert refused(model) == f"Not set: the API_BASE of {model!r}."

    @pytest.mark.parametrize(
        "base",
        [
            *(
                "models.example.com/v1",
                "ftp://models.example.com",
                "http://",
                "http://[x",
            ),
            *("https://sk-secret@models.example.com/v1", "http://h:port/v1"),
        ],
    )
    def test_no_good_address(self, base):
        assert "sk-secret" not in refused("openai/x", base=base)


class TestKey:
    def test_key_of_the_environment(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")

        assert find_endpoint("openai/x").key == "sk-openai"

    def test_key_goes_to_no_other_server(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
        monkeypatch.setenv("GROQ_API_KEY", "sk-groq")

        assert find_endpoint("openai/x", base=OWN).key == "none"
        assert find_endpoint("groq/x", base=OWN).key == "none"
        assert find_endpoint("groq/x").key == "sk-groq"

    def test_key_goes_where_the_environment_says(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
        monkeypatch.setenv("OPENAI_BASE_URL", OWN)

        found = find_endpoint("openai/x")

        assert (found.url, found.key) == (f"{OWN}/chat/completions", "sk-openai")

    def test_missing(self):
        assert refused("mistral/x") == "Not set: MISTRAL_API_KEY."

    @pytest.mark.parametrize("key", ["sk-1\n", "sk-1\r\nX-Evil: 1", "sk-ü"])
    def test_key_that_no_header_can_have(self, key):
        assert key.strip() not in refused("openai/x", base=OWN, key=key)

    def test_key_is_not_in_its_representation(self):
        assert "sk-secret" not in repr(find_endpoint("x", base=OWN, key="sk-secret"))
