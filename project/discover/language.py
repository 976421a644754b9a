"""
The query language of the explorer: words and `field:value`, all of which must hold.

A value may be compared, as in `status:>=500`; a quoted text is looked for as it
stands; a minus in front leaves out what matches.
"""

import re

from django.db.models import Q, QuerySet

from project.discover.models import LogLine

TERM = re.compile(
    r"""(?P<minus>-)?(?:(?P<field>[A-Za-z_]+):(?P<operator>[<>]=?)?)?"""
    r"""(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))"""
)
FIELDS = {
    "level": "level",
    "service": "service",
    "message": "message",
    "status": "status",
    "duration": "duration_ms",
}
NUMBERS = ("status", "duration")
LOOKUPS = {"": "exact", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
MAX_CHARS = 500
MAX_TERMS = 20
MAX_NUMBER = 1_000_000


class QueryError(ValueError):
    """The query has no meaning; the text says why."""


def run(query: str) -> QuerySet[LogLine]:
    """Return the lines that match, the latest first. Raise QueryError."""
    return LogLine.objects.filter(parse(query))


def parse(query: str) -> Q:
    """Return the condition that a query means. Raise QueryError."""
    if len(query) > MAX_CHARS:
        raise QueryError(f"The query is longer than {MAX_CHARS} characters.")
    condition = Q()
    place = 0
    terms = 0
    while rest := query[place:].lstrip():
        place = len(query) - len(rest)
        match = TERM.match(rest)
        if match is None:
            raise QueryError(f"{rest[:40]!r} is no term. Close the quotation mark.")
        terms += 1
        if terms > MAX_TERMS:
            raise QueryError(f"The query has more than {MAX_TERMS} terms.")
        condition &= _condition(match)
        place += match.end()
    return condition


def _condition(match: re.Match[str]) -> Q:
    value = match["plain"] if match["quoted"] is None else match["quoted"]
    if match["field"] is None:
        found = Q(message__icontains=value)
    else:
        found = _field(match["field"], match["operator"] or "", value)
    # An empty column is no match, so it stays when matches are left out.
    return ~found if match["minus"] else found


def _field(name: str, operator: str, value: str) -> Q:
    column = FIELDS.get(name.lower())
    if column is None:
        known = ", ".join(FIELDS)
        raise QueryError(f"There is no field {name!r}. There are: {known}.")
    if name.lower() in NUMBERS:
        return Q(**{f"{column}__{LOOKUPS[operator]}": _number(name, value)})
    if operator:
        raise QueryError(f"Field {name!r} is text: it has no {operator!r}.")
    lookup = "icontains" if column == "message" else "iexact"
    return Q(**{f"{column}__{lookup}": value})


def _number(name: str, value: str) -> int:
    is_number = value.isascii() and value.isdigit() and len(value) < 8
    if not is_number or int(value) > MAX_NUMBER:
        raise QueryError(
            f"Field {name!r} is a number from 0 to {MAX_NUMBER}, not {value!r}."
        )
    return int(value)
