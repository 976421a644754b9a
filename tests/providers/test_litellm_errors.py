from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from ai_assistant.providers.errors import SENTENCES
from ai_assistant.providers.litellm_errors import (
    RETRYABLE,
    STATUSES,
    TYPES,
    retry_after_seconds,
)


class TestCodes:
    def test_are_known(self):
        used = {code for _, code in TYPES} | set(STATUSES.values()) | RETRYABLE

        assert used <= set(SENTENCES)


class TestSeconds:
    @pytest.mark.parametrize(
        ("header", "wait_s"),
        [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("soon", None), ("", None)],
    )
    def test_number(self, header, wait_s):
        assert retry_after_seconds(header) == wait_s

    def test_date(self):
        header = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)

        assert 290 < retry_after_seconds(header) <= 300

    def test_date_in_the_past(self):
        assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
