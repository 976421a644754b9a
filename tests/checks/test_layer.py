import pytest
from channels.layers import InMemoryChannelLayer, get_channel_layer

from ai_assistant.apps import use_layer_in_memory
from ai_assistant.checks import check_assistant

REDIS = "'channels_redis.core.RedisChannelLayer'"


class TestLayer:
    @pytest.mark.parametrize("layers", [{}, None, {"other": {}}])
    def test_without_a_default_one_it_is_in_memory(self, settings, layers):
        settings.CHANNEL_LAYERS = layers
        assert check_assistant() == []

        use_layer_in_memory()  # as the app does when it starts

        assert isinstance(get_channel_layer(), InMemoryChannelLayer)

    @pytest.mark.parametrize("layers", [{}, None])
    def test_without_one_several_processes_are_told(
        self, settings, assistant, only, layers
    ):
        settings.CHANNEL_LAYERS = layers
        assistant(EXECUTOR="worker")

        assert only()[0] == "ai_assistant.W042"

    def test_module_of_the_layer_fails(self, settings, only, tmp_path, monkeypatch):
        (tmp_path / "failing_layer.py").write_text("1 / 0")
        monkeypatch.syspath_prepend(tmp_path)
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "failing_layer.Layer"}}

        found, said = only()
        assert found == "ai_assistant.E041"
        assert "which cannot be imported: division by zero" in said

    def test_layer_cannot_be_imported(self, settings, only):
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "no_layer.Layer"}}

        assert only() == (
            "ai_assistant.E041",
            "CHANNEL_LAYERS['default'] names 'no_layer.Layer', which cannot be "
            "imported: No module named 'no_layer' | "
            "Correct the path, or: pip install 'ai-assistant[redis]'.",
        )


class TestInMemory:
    @pytest.fixture(autouse=True)
    def layer(self, settings):
        settings.CHANNEL_LAYERS = {
            "default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}
        }

    def test_in_memory_with_workers(self, assistant, only):
        assistant(EXECUTOR="worker")

        assert only() == (
            "ai_assistant.W042",
            "The channel layer is in memory, but AI_ASSISTANT['EXECUTOR'] is "
            "'worker': what one process does reaches the panels of another only when "
            f"they poll. | Use a layer that connects processes, for example {REDIS}.",
        )

    def test_in_memory_with_several_web_processes(self, monkeypatch, only):
        monkeypatch.setenv("WEB_CONCURRENCY", "4")

        assert only() == (
            "ai_assistant.W042",
            "The channel layer is in memory, but WEB_CONCURRENCY is 4: what one "
            "process does reaches the panels of another only when they poll. | Use a "
            f"layer that connects processes, for example {REDIS}.",
        )
