"""The plots of the page: SVG files without script, readable on light and on dark."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pygal
from pygal.style import Style

from tests.bench.published.results import FOLDER

INK, PAPER = "#7a828e", "transparent"
OURS = ("Daphne", "uvicorn", "granian", "uvicorn, litellm")
COLOURS = {"ours": "#2f81f7", "bare": "#8b949e", "rival": "#db6d28"}
STYLE: Mapping[str, Any] = {
    "background": PAPER,
    "plot_background": PAPER,
    "foreground": INK,
    "foreground_strong": INK,
    "foreground_subtle": "#7a828e55",
    "opacity": "1",
    "font_family": "system-ui, sans-serif",
    "label_font_size": 13,
    "major_label_font_size": 13,
    "value_font_size": 13,
    "title_font_size": 15,
    "legend_font_size": 13,
    "value_colors": (INK,) * 16,
}
FIGURES: Mapping[str, tuple[str, str]] = {
    "first_token_over_http_ms": ("First token, over that of bare HTTP", "ms"),
    "cpu_ms_of_20_tokens": ("Processor time of an answer of 20 tokens", "ms"),
    "flood_first_text_ms": ("First text of 1,000 tokens at once", "ms"),
    "tokens_a_second": ("Tokens a second, 2,000 at once", "tokens/s"),
    "cpu_us_of_a_paced_token": (
        "Processor time of a token, 5 streams of 100 a second",
        "µs",
    ),
    "twenty_at_once_p50_ms": ("20 at one instant: first text, median", "ms"),
    "twenty_at_once_slowest_ms": ("20 at one instant: first text, slowest", "ms"),
    "rss_mb": ("Memory after 300 answers", "MB"),
}


def draw(found: Mapping[str, Any]) -> None:
    """Draw what was measured."""
    if part := found.get("side_by_side"):
        for name, (title, unit) in FIGURES.items():
            values = {key: one[name] for key, one in part["subjects"].items()}
            _bars(f"{name}.svg", f"{title} ({unit})", values)
    if part := found.get("growth"):
        _growth(part)
    if part := found.get("soak"):
        for name, title in (
            ("rss_mb", "Memory (MB)"),
            ("threads", "Threads"),
            ("descriptors", "Descriptors"),
        ):
            lines = {
                server: [(look["s"] / 60, look[name]) for look in one["looks"]]
                for server, one in part["servers"].items()
            }
            _lines(f"soak_{name}.svg", f"{title} over minutes", lines)


def _growth(part: Mapping[str, Any]) -> None:
    full = part["full"]
    rows = [(0, full["new"]), *((int(k), v) for k, v in full["sizes"].items())]
    lines = {
        label: [(place, row[key]) for place, (_, row) in enumerate(rows)]
        for label, key in (
            ("first token", "first_token_ms"),
            ("opened", "open_ms"),
        )
    }
    labels = [{"value": n, "label": f"{size:,}"} for n, (size, _) in enumerate(rows)]
    title = "Messages in the conversation; milliseconds"
    _lines("growth.svg", title, lines, x_labels=labels, dots=True)


def _bars(name: str, title: str, values: Mapping[str, float]) -> None:
    chart = pygal.HorizontalBar(
        **_options([COLOURS[_kind(key)] for key in reversed(values)]),
        height=60 + 34 * len(values),
        title=title,
        show_legend=False,
        show_x_labels=False,
        show_y_guides=False,
        range=(0, max(values.values()) * 1.15),
    )
    chart.x_labels = [f"{key}: {_short(values[key])}" for key in reversed(values)]
    rows = [
        {"value": max(value, 0), "color": COLOURS[_kind(key)]}
        for key, value in reversed(values.items())
    ]
    chart.add("", rows)
    _write(chart, name)


def _short(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _kind(subject: str) -> str:
    if subject.startswith("bare"):
        return "bare"
    return "ours" if subject in OURS else "rival"


def _lines(
    name: str,
    title: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_labels: Sequence[Any] = (),
    dots: bool = False,
) -> None:
    highest = max(y for points in lines.values() for _, y in points)
    chart = pygal.XY(
        **_options([COLOURS["ours"], COLOURS["rival"], COLOURS["bare"]]),
        height=300,
        title=title,
        legend_at_bottom=True,
        show_dots=dots,
        stroke_style={"width": 2},
        range=(0, highest * 1.1),
    )
    if x_labels:
        chart.x_labels = x_labels
    for label, points in lines.items():
        chart.add(label, list(points))
    _write(chart, name)


def _options(colours: Sequence[str]) -> dict[str, Any]:
    return {
        "style": Style(**STYLE, colors=tuple(colours)),
        "width": 720,
        "js": (),
        "no_prefix": True,
        "disable_xml_declaration": True,
        "pretty_print": True,
    }


def _write(chart: Any, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    chart.add_xml_filter(_without_script)
    (Path(FOLDER) / name).write_text(chart.render(is_unicode=True) + "\n")


def _without_script(root: Element) -> Element:
    """Take out what only a browser's script would use."""
    for above in list(root.iter()):
        for below in list(above):
            if str(below.tag).endswith(("script", "desc", "title")):
                above.remove(below)
    return root
