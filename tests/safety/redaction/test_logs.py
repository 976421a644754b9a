import io
import logging

import pytest

from ai_assistant.text.redaction.logs import NAMES, Redacting, install
from ai_assistant.text.redaction.redact import MARK

SECRET = "sk-proj-" + "Ab1" * 8


@pytest.fixture
def lines():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    loggers = [logging.getLogger(name) for name in NAMES]
    loggers[0].addHandler(handler)
    yield stream
    loggers[0].removeHandler(handler)


def fail(text):
    raise RuntimeError(text)


class TestRedacting:
    @pytest.mark.parametrize("name", NAMES)
    def test_message_and_its_arguments(self, lines, name):
        logging.getLogger(name).warning("%s and %r", SECRET, [SECRET])

        assert lines.getvalue() == f"{MARK} and ['{MARK}']\n"

    def test_traceback(self, lines):
        try:
            fail(f"Key {SECRET}")
        except RuntimeError:
            logging.getLogger("ai_assistant").exception("It failed")

        told = lines.getvalue()
        assert SECRET not in told
        assert f"RuntimeError: Key {MARK}" in told

    def test_exception_without_secrets_is_kept_for_others(self, caplog):
        try:
            fail("plain")
        except RuntimeError:
            logging.getLogger("ai_assistant").exception("It failed")

        assert caplog.records[0].exc_info[0] is RuntimeError

    @pytest.mark.parametrize("char", ["\x1b", "\r", "\x00", "\u202e", "\u200b", "\x9b"])
    def test_characters_that_fool_a_terminal(self, lines, char):
        logging.getLogger("ai_assistant").warning("a%sb", f"{char}[31m")

        assert char not in lines.getvalue()
        assert f"a\\u{ord(char):04x}[31mb" in lines.getvalue()

    def test_arguments_that_do_not_fit(self, lines):
        logging.getLogger("ai_assistant").warning("%d", "x")

        assert lines.getvalue() == "%d\n"

    def test_redacting_is_there_once(self):
        install()

        filters = logging.getLogger("ai_assistant").filters
        assert sum(isinstance(one, Redacting) for one in filters) == 1
