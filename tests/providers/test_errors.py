from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.utils import translation

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.errors import (
    RETRYABLE,
    SENTENCES,
    STATUSES,
    error_text,
    retry_after_seconds,
)


class TestSentence:
    def test_every_code_has_its_own(self):
        told = {error_text(ModelError(code)) for code in SENTENCES}

        assert len(told) == len(SENTENCES)

    @pytest.mark.parametrize(
        ("code", "told"),
        [
            ("bad_request", "The model did not accept the request."),
            ("context_too_long", "The conversation is too long for the model."),
            ("content_refused", "The model's provider refused to answer this."),
            ("bad_key", "The model did not accept the key of this site."),
            ("no_access", "The key of this site may not use the model."),
            ("no_model", "The model that this site asks for does not exist."),
            ("rate_limited", "The model's rate limit is reached."),
            ("provider_down", "The model's provider reported an error."),
            ("unreachable", "The model cannot be reached."),
            ("first_byte_timeout", "The model did not begin to answer in time."),
            ("cut", "The answer was cut off."),
            ("empty", "The model ended without saying anything."),
            ("malformed", "The model sent an invalid answer."),
        ],
    )
    def test_sentence_says_what_happened(self, code, told):
        assert error_text(ModelError(code)).startswith(told)

    @pytest.mark.parametrize("code", sorted(SENTENCES))
    def test_what_is_safe_and_what_to_do(self, code):
        told = error_text(ModelError(code))

        assert "kept" in told
        assert len(told.split(". ")) >= 2
        assert "!" not in told

    def test_detail_stays_with_the_operator(self):
        error = ModelError("bad_key", "AuthenticationError: sk-secret <b>")

        assert "sk-secret" not in error_text(error)
        assert error_text(error) == error_text(ModelError("bad_key"))

    @pytest.mark.parametrize(
        ("wait_s", "told"),
        [
            (0.2, "Try again in 1 second."),
            (41.0, "Try again in 41 seconds."),
            (130.0, "Try again in 3 minutes."),
        ],
    )
    def test_sentence_says_when_to_come_back(self, wait_s, told):
        error = ModelError("rate_limited", retry_after_s=wait_s)

        assert error_text(error).endswith(told)

    def test_unknown_code_has_a_sentence(self):
        assert error_text(ModelError("no_such_code")).startswith("The model could not")

    def test_language_is_the_active_one(self):
        with translation.override("de"):
            assert isinstance(error_text(ModelError("cut")), str)


class TestCodes:
    def test_codes_are_known(self):
        assert set(STATUSES.values()) | RETRYABLE <= set(SENTENCES)


class TestSeconds:
    @pytest.mark.parametrize(
        ("header", "wait_s"),
        [
            ("7", 7.0),
            ("0.5", 0.5),
            ("-3", 0.0),
            ("soon", None),
            ("", None),
            ("inf", None),
        ],
    )
    def test_number(self, header, wait_s):
        assert retry_after_seconds(header) == wait_s

    def test_date(self):
        header = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)

        assert 290 < retry_after_seconds(header) <= 300

    def test_date_in_the_past(self):
        assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
