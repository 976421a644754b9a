import pytest

from ai_assistant import conf
from ai_assistant.checks.settings import check_redaction


@pytest.fixture
def found(settings):
    def check(**options):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, options)
        return [message.id for message in check_redaction()]

    return check


class TestRedaction:
    @pytest.mark.parametrize(
        "pattern",
        [r"CUST-[0-9]{6}", r"key=(?P<secret>\w{4,100})", "xa+b+", "(?:ab|cd)x{2,5}"],
    )
    def test_good(self, found, pattern):
        assert found(REDACT=[pattern]) == []

    def test_no_regular_expression(self, found):
        assert found(REDACT=["("]) == ["ai_assistant.E160"]

    @pytest.mark.parametrize("pattern", ["", "a*", "(?:a|)"])
    def test_pattern_that_matches_nothing_is_an_error(self, found, pattern):
        assert found(REDACT=[pattern]) == ["ai_assistant.E161"]

    @pytest.mark.parametrize(
        "pattern", ["x(a+)+b", "x(?:a|a+)*b", r"\w+@\w+", "(?:.*)x", "x(?:(?:ab)+c?)+"]
    )
    def test_slow(self, found, pattern):
        assert found(REDACT=[pattern]) == ["ai_assistant.E162"]

    def test_short_key(self, found):
        assert found(AUDIT={"KEY": "k" * 31}) == ["ai_assistant.W163"]
        assert found(AUDIT={"KEY": "k" * 32}) == []
