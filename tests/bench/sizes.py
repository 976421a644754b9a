"""Bytes of the panel's scripts and styles as a careful server sends them."""

import gzip
import re
from pathlib import Path

import rcssmin
import rjsmin

STATIC = Path("ai_assistant/static/ai_assistant")


def loaded_with(path: Path) -> set[Path]:
    """Return `path` and the scripts that it imports at once."""
    names = re.findall(r'^(?:import|export)\b[^;]*?"\./(.+?)";', path.read_text(), re.M)
    return {path}.union(*(loaded_with(path.parent / name) for name in names))


def packed(path: Path) -> int:
    """Return the bytes of a script or a style sheet, minified and gzip."""
    minify = rjsmin.jsmin if path.suffix == ".js" else rcssmin.cssmin
    return len(gzip.compress(minify(path.read_text()).encode(), 9))


def script_sets() -> dict[str, set[Path]]:
    """Return the scripts of a closed page, of an open panel, and those for later."""
    closed = {STATIC / "boot.js"}
    at_once = loaded_with(STATIC / "panel.js")
    return {
        "closed": closed,
        "open": at_once,
        "lazy": set(STATIC.glob("*.js")) - at_once - closed,
    }


def style_sheets() -> set[Path]:
    """Return what every page with the panel links: bridges to themes are apart."""
    return {STATIC / "panel.css", STATIC / "code.css"}


def later_sheets() -> set[Path]:
    """Return what an open panel links behind its first paint."""
    return {STATIC / "more.css"}
