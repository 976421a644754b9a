"""Makes log lines of one day. Every choice comes from one seed."""

import datetime
import random
from collections.abc import Iterator
from typing import NamedTuple

from project.discover.models import LogLine

SEED = 20250301
COUNT = 600
BEGIN = datetime.datetime(2026, 3, 2, 6, 0, tzinfo=datetime.UTC)


class Kind(NamedTuple):
    """One sort of line, and how often it comes."""

    weight: int
    level: str
    service: str
    message: str
    status: int | None = None
    slowest_ms: int = 0


KINDS = (
    Kind(30, "info", "web", "GET /answer/{code} served", 200, 400),
    Kind(18, "info", "api", "POST /api/answers stored {n} answers", 201, 700),
    Kind(9, "info", "scheduler", "opened {n} access windows", None, 300),
    Kind(9, "debug", "scheduler", "next look in 60 seconds"),
    Kind(10, "info", "mailer", "sent reminder to {code}", None, 900),
    Kind(6, "warning", "web", "GET /answer/{code} outside of its window", 403, 200),
    Kind(5, "warning", "mailer", "mailbox full for {code}, trying again", None, 1500),
    Kind(4, "warning", "api", "slow query on answers", 200, 6000),
    Kind(3, "error", "api", "POST /api/answers failed: revision conflict", 409, 300),
    Kind(3, "error", "mailer", "gave up on {code}: mailbox full", None, 2500),
    Kind(2, "error", "web", "GET /answer/{code} failed: database timeout", 500, 9000),
    Kind(1, "error", "scheduler", "time zone of schedule {n} is unknown"),
)


def build() -> dict[str, int]:
    """Create the lines unless there are any; return how many."""
    if LogLine.objects.exists():
        return {}
    return {"log lines": len(LogLine.objects.bulk_create(_lines()))}


def _lines() -> Iterator[LogLine]:
    chance = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    weights = [kind.weight for kind in KINDS]
    moment = BEGIN
    for _number in range(COUNT):
        moment += datetime.timedelta(seconds=chance.randint(1, 140))
        kind = chance.choices(KINDS, weights)[0]
        yield LogLine(
            time=moment,
            level=kind.level,
            service=kind.service,
            message=kind.message.format(
                code=f"P-{chance.randint(1, 180):03}", n=chance.randint(1, 40)
            ),
            status=kind.status,
            duration_ms=_duration(chance, kind.slowest_ms),
        )


def _duration(chance: random.Random, slowest_ms: int) -> int | None:
    if not slowest_ms:
        return None
    return 2 + int(slowest_ms * chance.random() ** 3)  # most are quick
