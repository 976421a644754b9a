"""How long a write phase may hold the database, and what it leaves behind."""

import pytest
from django.db import OperationalError, connection, transaction

from ai_assistant.engine.calls.write_limit import left_s, limit_s, within_limit
from ai_assistant.exceptions import ToolFailed

pytestmark = pytest.mark.django_db(transaction=True)


def statement_timeout():
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return cursor.fetchone()[0]


class TestLimit:
    def test_limit_is_that_of_the_database(self, options):
        options(TIMEOUTS={"WRITE_S": None})

        assert limit_s() == (1.0 if connection.vendor == "sqlite" else 5.0)

    def test_tool_may_have_more_and_never_less(self, options):
        options(TIMEOUTS={"WRITE_S": 2})

        assert (limit_s(), limit_s(3), limit_s(1)) == (2, 3, 2)

    def test_what_is_left_ends_with_the_phase(self, options):
        options(TIMEOUTS={"WRITE_S": 100})

        with within_limit(200):
            assert 100 < left_s() <= 200

        assert left_s() == 100

    def test_phase_that_took_longer_fails(self, options):
        options(TIMEOUTS={"WRITE_S": 1e-9})

        with pytest.raises(ToolFailed, match="was undone"), within_limit():
            pass


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only")
class TestLimitOfStatements:
    def test_limit_of_statements_ends_one_that_waits_for_too_long(self, options):
        options(TIMEOUTS={"WRITE_S": 0.05})

        with (
            pytest.raises(OperationalError, match="statement timeout"),
            transaction.atomic(),
            within_limit(),
            connection.cursor() as cursor,
        ):
            cursor.execute("SELECT pg_sleep(60)")

    @pytest.mark.parametrize("own", ["0", "90s", "1234ms"])
    @pytest.mark.parametrize("scope", ["SESSION", "LOCAL"])
    def test_limit_of_statements_of_the_site_holds_again_after_it(self, own, scope):
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET {scope} statement_timeout = '{own}'")
            before = statement_timeout()

            with within_limit():
                assert statement_timeout() == f"{limit_s():g}s"

            assert statement_timeout() == before == own
        with connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")

    def test_limit_of_statements_of_the_site_holds_again_after_a_failure(self):
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL statement_timeout = '90s'")

            with pytest.raises(ZeroDivisionError), transaction.atomic(), within_limit():
                raise ZeroDivisionError

            assert statement_timeout() == "90s"
