"""
Parse SQL statements, as far as their text is unambiguous.

Only statements in the plain form that Django writes are parsed. All others are reported
as unclear, never guessed.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Literal, TypeVar

T = TypeVar("T")
Kind = Literal["read", "insert", "update", "delete", "other"]

# Statements that change no row. What follows WITH or EXPLAIN may.
READS = frozenset(
    {
        *("SELECT", "VALUES", "SHOW", "SET", "RESET", "PRAGMA", "LOCK", "DISCARD"),
        *("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE"),
        *("DECLARE", "FETCH", "MOVE", "CLOSE", "LISTEN", "UNLISTEN", "NOTIFY"),
    }
)
WRITES: dict[str, Kind] = {"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}
WRITE_WORDS = re.compile(
    r"\b(INSERT|UPDATE|DELETE|MERGE|REPLACE|TRUNCATE|INTO)\b", re.I
)

LOCKING = re.compile(r"\bFOR (NO KEY )?UPDATE\b", re.IGNORECASE)
LEADING = re.compile(r"\A(?:\s+|--[^\n]*\n|/\*.*?\*/)+", re.DOTALL)
QUOTED = r'(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`)'
UPDATE = re.compile(rf"\AUPDATE (?P<table>{QUOTED}) SET ")
DELETE = re.compile(rf"\ADELETE FROM (?P<table>{QUOTED})(?: WHERE |\Z)")
INSERT = re.compile(
    rf"\AINSERT (?P<ignore>OR IGNORE )?INTO (?P<table>{QUOTED}) "
    rf"(?P<columns>\({QUOTED}(?:, {QUOTED})*\) )?(?:VALUES |SELECT |DEFAULT VALUES)"
)
NAMED = re.compile(
    rf"\b(?:INTO|UPDATE|FROM|TABLE|TRUNCATE)\s+(?:ONLY\s+)?({QUOTED}|\w+)", re.I
)
IN_QUOTES = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
IN_QUOTES_OR_SPACE = re.compile(rf"{IN_QUOTES.pattern}|\s+")
UNREADABLE = re.compile(r";|--|/\*|\$\w*\$|[\"'`]")  # a quote is left: it never ends
# Words that, outside of parentheses, make the plain forms mean something else.
UNPLAIN = re.compile(r"\b(FROM|ORDER BY|LIMIT|USING|ON CONFLICT|WITH)\b", re.I)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlainStatement:
    """An UPDATE or DELETE of one table, with its condition."""

    table: str
    where: str  # SQL; empty: all rows
    params: tuple[Any, ...]  # of the condition
    returns: bool  # whether rows come back
    assigned: dict[str, Any]  # column -> its parameter, UNCLEAR if computed


@dataclass(frozen=True, kw_only=True, slots=True)
class Insert:
    """An INSERT into one table, which overwrites no row."""

    table: str
    returning: tuple[str, ...]  # columns that it gives back


UNCLEAR = object()
KEPT_CHARS = 4000  # of the text of a statement


def kept(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Keep what is found in the text of a statement, which comes again and again."""
    found = lru_cache(256)(parse)

    @wraps(parse)
    def parse_once(sql: str) -> T:
        return found(sql) if len(sql) <= KEPT_CHARS else parse(sql)

    return parse_once


@kept
def statement_kind(sql: str) -> Kind:
    """Return what a statement may do; `other` if its text does not say."""
    stripped = LEADING.sub("", sql)
    word = re.match(r"\w*", stripped.lstrip("( "))
    first = word.group().upper() if word else ""
    if first in READS:
        # A SELECT can write too, by INTO or in a WITH of its own.
        writes = first == "SELECT" and re.search(
            r"\bINTO\b", outside_quotes(stripped), re.I
        )
        return "other" if writes else "read"
    if first in ("WITH", "EXPLAIN"):
        unlocked = LOCKING.sub("", outside_quotes(stripped))
        return "other" if WRITE_WORDS.search(unlocked) else "read"
    return WRITES.get(first, "other")


@kept
def table_of(sql: str) -> str:
    """Return the first table that a statement names, "" if that is unclear."""
    match = NAMED.search(sql)
    return unquoted(match.group(1)) if match else ""


def parse_plain_statement(sql: str, params: Any) -> PlainStatement | None:
    """Parse an UPDATE or DELETE; None if it is not in the plain form."""
    found = _plain(sql)
    if found is None or not _fits(params, found.count):
        return None
    values = tuple(params or ())
    return PlainStatement(
        table=found.table,
        where=found.where,
        params=values[found.before_where :],
        returns=found.returns,
        assigned={
            name: values[place] if isinstance(place, int) else place
            for name, place in found.assigned.items()
        },
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plain:
    """The text of an UPDATE or DELETE of one table, with the places of parameters."""

    table: str
    where: str
    returns: bool
    count: int  # of all parameters
    before_where: int  # those of SET
    assigned: dict[str, Any]  # column -> the place of its parameter, None or UNCLEAR


@kept
def _plain(sql: str) -> _Plain | None:
    start = UPDATE.match(sql) or DELETE.match(sql)
    if start is None or not _is_clear(sql):
        return None
    clauses = sql[start.end() :]
    outer, *returning = top_level(clauses).split(" RETURNING ")
    clauses = clauses[: len(outer)]
    if UNPLAIN.search(outer) or any("%s" in part for part in returning):
        return None
    is_update = not sql.startswith("DELETE")
    where, assigned = clauses, {}
    before_where = 0
    if is_update:
        conditions = [place.start() for place in re.finditer(r" WHERE ", outer)]
        if len(conditions) > 1:
            return None
        end = conditions[0] if conditions else len(clauses)
        where = clauses[end + len(" WHERE ") :]
        assigned = _assigned(clauses[:end])
        before_where = placeholders(clauses[:end])
    return _Plain(
        table=unquoted(start.group("table")),
        where=where,
        returns=bool(returning),
        count=placeholders(sql),
        before_where=before_where,
        assigned=assigned,
    )


@kept
def assigned_columns(sql: str) -> frozenset[str]:
    """Return the columns that an UPDATE sets, laid out as it may be; none if unclear."""
    flat = IN_QUOTES_OR_SPACE.sub(lambda one: one[0] if one[0].strip() else " ", sql)
    flat = flat.strip()
    start = UPDATE.match(flat)
    if start is None or not _is_clear(flat):
        return frozenset()
    clauses = flat[start.end() :]
    outer, *_conditions = top_level(clauses).split(" WHERE ")
    if UNPLAIN.search(outer):
        return frozenset()
    return frozenset(_assigned(clauses[: len(outer)]))


def insert(sql: str, params: Any) -> Insert | None:
    """Parse an INSERT; None if it is not in the plain form, or overwrites rows."""
    found = _insert(sql)
    return found[0] if found and _fits(params, found[1]) else None


@kept
def _insert(sql: str) -> tuple[Insert, int] | None:
    """Return a plain INSERT with the count of its parameters."""
    start = INSERT.match(sql)
    if start is None or not _is_clear(sql):
        return None
    outer = top_level(sql)
    conflict = re.search(r" ON CONFLICT\b.*", outer)
    if conflict and not re.match(r" ON CONFLICT +DO NOTHING", conflict.group()):
        return None
    parts = outer.split(" RETURNING ")
    if len(parts) > 2:
        return None
    returning = sql[len(parts[0]) + len(" RETURNING ") :] if len(parts) == 2 else ""
    columns = [unquoted(part.split(".")[-1]) for part in returning.split(", ") if part]
    made = Insert(table=unquoted(start.group("table")), returning=tuple(columns))
    return made, placeholders(sql)


def unquoted(name: str) -> str:
    """Return the name in quotes, or the name itself."""
    for quote in '"`':
        if name.startswith(quote):
            return name[1:-1].replace(quote * 2, quote)
    return name


def placeholders(sql: str) -> int:
    """Count the parameters of `sql` outside of quotes."""
    return outside_quotes(sql).replace("%%", "").count("%s")


def outside_quotes(sql: str) -> str:
    """Return `sql` with quoted text blanked out, at the same length."""
    return IN_QUOTES.sub(lambda quoted: "." * len(quoted.group()), sql)


def top_level(sql: str) -> str:
    """Return `sql` with quoted and parenthesized text blanked out."""
    blanked = outside_quotes(sql)
    pieces, depth, start = [], 0, 0
    for place in re.finditer(r"[()]", blanked):
        opens = place.group() == "("
        if depth == 0 and opens:
            pieces.append(blanked[start : place.start()])
            start = place.start()
        depth += 1 if opens else -1
        if depth == 0 and not opens:
            pieces.append("." * (place.end() - start))
            start = place.end()
    pieces.append(blanked[start:] if depth == 0 else "." * (len(blanked) - start))
    return "".join(pieces)


def _is_clear(sql: str) -> bool:
    """Return whether this is one statement, of which all quotes end."""
    blanked = outside_quotes(sql)
    return not (UNREADABLE.search(blanked) or re.search(r"\bE'", sql, re.I))


def _fits(params: Any, count: int) -> bool:
    """Return whether the parameters are positional, and as many as the text names."""
    if params is None:
        return count == 0
    return isinstance(params, Sequence) and len(params) == count


def _assigned(text: str) -> dict[str, Any]:
    """Return the columns that SET names, with the places of their parameters."""
    columns: dict[str, Any] = {}
    outer, start, used = top_level(text) + ", ", 0, 0
    for comma in re.finditer(", ", outer):
        part = text[start : comma.start()]
        name, _, value = part.partition(" = ")
        is_one = value == "%s"
        columns[unquoted(name)] = (
            used if is_one else None if value == "NULL" else UNCLEAR
        )
        start, used = comma.end(), used + placeholders(value)
    return columns
