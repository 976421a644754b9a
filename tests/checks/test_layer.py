import pytest

REDIS = "'channels_redis.core.RedisChannelLayer'"


class TestLayer:
    @pytest.mark.parametrize("layers", [{}, None, {"other": {}}])
    def test_missing(self, settings, only, layers):
        settings.CHANNEL_LAYERS = layers

        assert only() == (
            "ai_assistant.E040",
            "CHANNEL_LAYERS has no layer 'default'. | Set it to {'default': "
            "{'BACKEND': 'channels.layers.InMemoryChannelLayer'}}.",
        )

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
