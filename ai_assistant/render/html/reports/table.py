"""A table of a report: drawn with bars, or written as CSV."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from io import StringIO
from typing import Any

from django.template.defaultfilters import floatformat
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.html.transcript.footer import duration
from ai_assistant.text.hidden_characters import mark_hidden_characters

WIDTH = 1000  # of the picture of a bar
BRIEF_S = 10.0
NOTHING = "\N{EN DASH}"
# Begins a formula where a file is opened as a sheet.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Column:
    """
    A column; `kind` is one of text, count, usd, money, seconds, percent and time.

    Of `money` an empty value says that no price is known.
    """

    label: str
    kind: str = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """The values of a row, the first of which is its head; None: not known."""

    values: Sequence[Any]
    url: str = ""  # of the head
    urls: dict[int, str] = field(default_factory=dict)  # of other values, by place
    share: float | None = None  # of the greatest; drawn as a bar


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table; `name` is that in its address."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    note: str = ""

    def entry(self, most: int) -> Entry:
        """Return what `report_table.html` draws: at most so many rows."""
        return {
            "name": self.name,
            "title": self.title,
            "note": self.note,
            "columns": self.columns,
            "rows": [self._drawn(row) for row in self.rows[:most]],
            "has_bars": any(row.share is not None for row in self.rows),
            "more": max(len(self.rows) - most, 0),
        }

    def csv(self) -> str:
        """Return all rows as CSV, with plain numbers."""
        written = StringIO()
        writer = csv.writer(written)
        writer.writerow([column.label for column in self.columns])
        writer.writerows([_plain(value) for value in row.values] for row in self.rows)
        return written.getvalue()

    def _drawn(self, row: Row) -> Entry:
        cells = [
            {
                "text": shown(column.kind, value),
                "kind": column.kind,
                "url": row.url if place == 0 else row.urls.get(place, ""),
            }
            for place, (column, value) in enumerate(
                zip(self.columns, row.values, strict=True)
            )
        ]
        width = None if row.share is None else round(row.share * WIDTH)
        return {"head": cells[0], "cells": cells[1:], "width": width}


def shown(kind: str, value: Any) -> str:
    """Return a value as people read it."""
    if value is None:
        return _("unknown") if kind == "money" else NOTHING
    if kind in SHOWN:
        return SHOWN[kind](value)
    return mark_hidden_characters(str(value)) or NOTHING


def money(usd: Any) -> str:
    """Return dollars, of which cents count if they are many, and more if few."""
    places = 2 if abs(usd) >= 1 or not usd else 4
    return str(number_format(usd, decimal_pos=places, force_grouping=True))


def seconds(value: float) -> str:
    """Return a time in words."""
    if value >= BRIEF_S:
        return duration(value)
    return _("%(seconds)s s") % {"seconds": floatformat(value, 2)}


def with_shares(rows: Iterable[tuple[Row, Any]]) -> list[Row]:
    """Return rows, each with its share of the greatest of what is given beside them."""
    pairs = list(rows)
    most = max((float(amount or 0) for _row, amount in pairs), default=0.0)
    return [
        Row(
            values=row.values,
            url=row.url,
            urls=row.urls,
            share=float(amount or 0) / most if most else 0.0,
        )
        for row, amount in pairs
    ]


def columns_of_chart(amounts: Sequence[tuple[str, Any]]) -> Iterator[Entry]:
    """Yield the columns of a chart, WIDTH wide and 100 high, with what each says."""
    most = max((float(amount or 0) for _name, amount in amounts), default=0.0) or 1.0
    wide = WIDTH / max(len(amounts), 1)
    for place, (name, amount) in enumerate(amounts):
        high = float(amount or 0) / most * 100
        yield {
            "title": name,
            "x": round(place * wide + wide * 0.1, 2),
            "y": round(100 - high, 2),
            "width": round(wide * 0.8, 2),
            "height": round(high, 2),
        }


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        local = timezone.localtime(value) if timezone.is_aware(value) else value
        return str(date_format(local, "SHORT_DATETIME_FORMAT"))
    return str(date_format(value, "DATE_FORMAT"))


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    text = value if isinstance(value, str) else None
    return f"'{text}" if text and text.startswith(FORMULA) else value


def _count(value: Any) -> str:
    return str(number_format(value, decimal_pos=0, force_grouping=True))


def _percent(value: Any) -> str:
    return _("%(percent)s %%") % {"percent": number_format(value, 0)}


SHOWN: Mapping[str, Callable[[Any], str]] = {
    "count": _count,
    "money": money,
    "usd": money,
    "seconds": seconds,
    "percent": _percent,
    "time": _moment,
}
