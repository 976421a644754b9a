"""Settings of programs that call: origins and tokens."""

import pytest


class TestOrigins:
    @pytest.mark.parametrize(
        "origin",
        [
            "https://app.example",
            "https://app.example:8443",
            "https://*.app.example",
            "http://localhost:3000",
            "http://127.0.0.1",
            "http://[::1]:3000",
        ],
    )
    def test_good(self, assistant, origin):
        from ai_assistant.checks.safety import check_doors

        assistant(CORS_ORIGINS=[origin])

        assert check_doors() == []

    @pytest.mark.parametrize(
        "origin",
        [
            *("", "*", "null", "app.example", "https://", "https://*", "https://*."),
            *("https://app.example/", "https://app.example/path", "ftp://app.example"),
            *("https://App.example", "https://u@app.example", "https://a.*.example"),
            *("https://app.example:x", "https://app.example?q", " https://app.example"),
            *("https://app .example", "https://[::1"),
        ],
    )
    def test_no_origin(self, assistant, only, origin):
        assistant(CORS_ORIGINS=[origin])

        found, text = only()
        assert found == "ai_assistant.E180"
        assert repr(origin) in text

    def test_plain_http(self, assistant, only):
        assistant(CORS_ORIGINS=["http://app.example"])

        assert only()[0] == "ai_assistant.W181"


class TestTokens:
    def test_more_days_than_allowed(self, assistant, only):
        assistant(TOKENS={"DAYS": 91, "MAX_DAYS": 90})

        found, text = only()
        assert found == "ai_assistant.E182"
        assert "MAX_DAYS, which is 90" in text

    @pytest.mark.parametrize("options", [{"TOKENS": {"MAX_DAYS": None, "DAYS": 9999}}])
    def test_no_bound(self, assistant, options):
        from ai_assistant.checks.safety import check_doors

        assistant(**options)

        assert check_doors() == []
