"""Code that is not ours may raise anything."""

import pytest

from ai_assistant.safety.site_code import value_or


def fails():
    raise RuntimeError("of the site")


class TestValueOr:
    def test_value_or_returns_what_it_returns(self, caplog):
        assert value_or("other", lambda: "own", "no %s", "text") == "own"
        assert caplog.text == ""

    def test_value_or_returns_the_other_where_it_fails(self, caplog):
        assert value_or("other", fails) == "other"
        assert caplog.text == ""

    def test_logs_the_fault_where_it_is_told_how(self, caplog):
        assert value_or("", fails, "%s %r has no text", "shop.order", 7) == ""

        assert "shop.order 7 has no text" in caplog.text
        assert "of the site" in caplog.text

    def test_value_or_lets_the_end_of_the_process_through(self):
        def ends():
            raise SystemExit

        with pytest.raises(SystemExit):
            value_or("other", ends)
