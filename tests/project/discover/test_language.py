import datetime

import pytest

from project.discover.language import QueryError, run
from project.discover.models import LogLine

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def lines():
    rows = [
        ("error", "mailer", "mailbox full for P-1", None, 100),
        ("info", "api", "POST /answers stored", 201, 20),
        ("error", "api", "database timeout", 500, 9000),
    ]
    begin = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
    for minute, (level, service, message, status, duration) in enumerate(rows):
        LogLine.objects.create(
            time=begin + datetime.timedelta(minutes=minute),
            level=level,
            service=service,
            message=message,
            status=status,
            duration_ms=duration,
        )


class TestRun:
    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("", ["api", "api", "mailer"]),
            ("level:error", ["api", "mailer"]),
            ("LEVEL:Error service:api", ["api"]),
            ("-level:error", ["api"]),
            ("status:>=500", ["api"]),
            ("-status:>=500", ["api", "mailer"]),
            ("duration:<100", ["api"]),
            ("duration:<=100 duration:>20", ["mailer"]),
            ('"mailbox full"', ["mailer"]),
            ('message:"full for"', ["mailer"]),
            ('-"mailbox full" timeout', ["api"]),
            ("mailbox p-1", ["mailer"]),
            ("unicorn", []),
            ("'; DROP TABLE --", []),
        ],
    )
    def test_run_finds_the_latest_first(self, query, found):
        assert [line.service for line in run(query)] == found

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("colour:red", "no field 'colour'. There are: level,"),
            ("id:1", "no field 'id'"),
            ("status:many", "is a number from 0"),
            ("status:>", "Close the quotation mark|is a number"),
            ("status:99999999999999999999", "is a number from 0"),
            ("status:٣", "is a number"),
            ("level:>error", "is text: it has no '>'"),
            ('"never closed', "Close the quotation mark"),
            ("a " * 21, "more than 20 terms"),
            ("x" * 501, "longer than 500"),
        ],
    )
    def test_run_says_what_has_no_meaning(self, query, said):
        with pytest.raises(QueryError, match=said):
            run(query)
