"""The tables of docs/benchmarks.md, between its marks, from the file of results."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.bench.published.plots import FIGURES
from tests.bench.published.results import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
MARKED = "<!-- figures: {0} -->\n"
END = "<!-- end -->"
OURS = "uvicorn"
LONG = 200  # characters of a cell
Part = Mapping[str, Any]


def write(found: Mapping[str, Part]) -> None:
    """Put the tables of all parts that were measured into the page."""
    text = PAGE.read_text()
    for name, tell in PARTS.items():
        if name in found:
            begin, end = re.escape(MARKED.format(name)), re.escape(END)
            said = f"{tell(found[name])}\n{taken(found[name])}\n"
            text, count = re.subn(
                f"({begin}).*?({end})",
                lambda marked, said=said: f"{marked[1]}\n{said}\n{marked[2]}",
                text,
                flags=re.DOTALL,
            )
            assert count == 1, f"docs/benchmarks.md has no place for {name!r}"
    PAGE.write_text(text)


def taken(part: Part) -> str:
    """Return on what, when and under what load a part was measured."""
    versions = ", ".join(f"{name} {one}" for name, one in part["versions"].items())
    load = part["load"]
    return (
        f"\nMeasured on {part['date']}; {part['machine']}; load {load['before']} before, "
        f"{load['after']} after; {versions}."
    )


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table, its first column of words and the others of figures."""
    heads = [*head]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def side_by_side(part: Part) -> str:
    """Return a row for each figure, a column for each subject."""
    subjects = part["subjects"]
    rival = [*subjects][-1] if len(subjects) > 6 else ""
    rows = []
    for key, (title, unit) in FIGURES.items():
        row = [f"{title} ({unit})", *(_number(one[key]) for one in subjects.values())]
        if rival:
            row.append(f"{subjects[OURS][key] / subjects[rival][key]:.2f}")
        rows.append(row)
    ratio = [f"{OURS} to {rival}"] if rival else []
    plots = "\n".join(
        f"![{title}](benchmarks/{key}.svg)" for key, (title, _) in FIGURES.items()
    )
    rounds = f"Medians of {part['rounds']} rounds."
    return f"{table(['', *subjects, *ratio], rows)}\n\n{rounds}\n\n{plots}"


def streams(part: Part) -> str:
    """Return how late the text of many streams is."""
    head = ("", "whole", "lag p50 (ms)", "p95 (ms)", "worst (ms)", "of one core")
    rows = [
        (
            server,
            f"{one['whole']} of {part['streams']}",
            _number(one["lag_p50_ms"]),
            _number(one["lag_p95_ms"]),
            _number(one["lag_worst_ms"]),
            f"{one['cpu_share']:.0%}",
        )
        for server, one in part["servers"].items()
    ]
    return table(head, rows)


def tabs(part: Part) -> str:
    """Return what idle tabs hold."""
    head = ("", f"{part['tabs']} tabs (MB)", "a tab (KB)", "CPU while idle (ms/s)")
    rows = [
        (server, one["added_mb"], one["kb_of_a_tab"], one["idle_cpu_ms_a_second"])
        for server, one in part["servers"].items()
    ]
    return table(head, rows)


def growth(part: Part) -> str:
    """Return what grows with the length of a conversation, and with the table."""
    full, empty = part["full"], part["empty"]
    rows = [("new", full["new"]["first_token_ms"], "", full["new"]["open_ms"])]
    rows += [
        (f"{int(size):,}", one["first_token_ms"], one["over_new_ms"], one["open_ms"])
        for size, one in full["sizes"].items()
    ]
    head = ("messages in it", "first token (ms)", "over a new one (ms)", "opened (ms)")
    around = [
        ("first token of a new conversation (ms)", "new", "first_token_ms"),
        ("the list of conversations (ms)", "list_ms", ""),
        ("a search in them (ms)", "search_ms", ""),
        ("a page with the closed panel (ms)", "closed_page_ms", ""),
    ]
    beside = [(name, _at(empty, *keys), _at(full, *keys)) for name, *keys in around]
    heads = ("", "empty tables", f"beside {part['others']:,} messages")
    plot = "![Growth with the length of a conversation](benchmarks/growth.svg)"
    size = f"The SQLite file then has {part['database_mb']} MB; on {part['server']}."
    return f"{table(head, rows)}\n\n{plot}\n\n{table(heads, beside)}\n\n{size}"


def _at(found: Mapping[str, Any], key: str, below: str) -> Any:
    return found[key][below] if below else found[key]


def soak(part: Part) -> str:
    """Return how much was added from the end of the warm-up to the end."""
    names = {"rss_mb": "memory", "threads": "threads", "descriptors": "descriptors"}
    rows = [
        (server, one["answers"], *(f"{one['grown'][name]:+.1%}" for name in names))
        for server, one in part["servers"].items()
    ]
    plots = "\n".join(
        f"![{label.capitalize()} in the soak](benchmarks/soak_{name}.svg)"
        for name, label in names.items()
    )
    minutes = f"{part['seconds'] / 60:.0f} minutes after a warm-up of {part['warm_s'] / 60:.0f}."
    head = ("", "answers", *names.values())
    return f"{table(head, rows)}\n\n{minutes}\n\n{plots}"


def costs(part: Part) -> str:
    """Return what stands still: sizes and imports."""
    return table(("", "measured"), part["rows"])


def queries(part: Part) -> str:
    """Return the hot statements with their plans, and which indexes they use."""
    said = [f"Beside {part['messages']:,} messages."]
    for thing, ours in part["sqlite"]["things"].items():
        rows = [
            _query(*pair) for pair in _pairs(ours, part["postgres"]["things"][thing])
        ]
        head = ("statement", "SQLite", "PostgreSQL", "ms")
        what = table(head, rows) if rows else "No statement."
        said.append(f"**{thing[0].upper()}{thing[1:]}**\n\n{what}")
    return "\n\n".join(said)


Query = Mapping[str, Any]


def _pairs(ours: list[Query], theirs: list[Query]) -> list[tuple[Query, Query | None]]:
    """Return each statement with that of the other database, which may word it so."""
    left = [*theirs]
    found: list[tuple[Query, Query | None]] = []
    for one in ours:
        alike = (o for o in left if o["sql"] == one["sql"] or _kind(o) == _kind(one))
        other = next(alike, None)
        if other is not None:
            left.remove(other)
        found.append((one, other))
    return found


def _kind(query: Query) -> tuple[str, list[str]]:
    """Return what a statement does, with which tables in which order."""
    sql = query["sql"]
    return sql.split(None, 1)[0], re.findall(r"ai_assistant_\w+", sql.split("WHERE")[0])


def _query(ours: Query, other: Query | None) -> list[str]:
    plan = "; ".join(ours["plan"])
    theirs = "; ".join(other["plan"]) if other else ""
    took = f"{other['ms']:.2f}" if other else ""
    return [f"`{short(ours['sql'])}`", _cell(plan), _cell(theirs), took]


def short(sql: str) -> str:
    """Return a statement without its columns, on one line."""
    text = re.sub(
        r"\s+", " ", sql.replace('"', "").replace("ai_assistant_", "")
    ).strip()
    text = re.sub(r"^SELECT (DISTINCT )?.*? FROM", "SELECT … FROM", text)
    text = re.sub(r"SET .*? WHERE", "SET … WHERE", text)
    return _cut(text)


def _cell(text: str) -> str:
    return _cut(
        re.sub(
            r" INDEX sqlite_autoindex_\w+", " key", text.replace("ai_assistant_", "")
        )
    )


def _cut(text: str) -> str:
    text = text.replace("|", "\\|")
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def _number(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


PARTS: Mapping[str, Callable[[Part], str]] = {
    "side_by_side": side_by_side,
    "streams": streams,
    "tabs": tabs,
    "growth": growth,
    "queries": queries,
    "soak": soak,
    "costs": costs,
}
