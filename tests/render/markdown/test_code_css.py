import gzip
import re
from pathlib import Path

import pytest

import ai_assistant
from ai_assistant.render.markdown.highlight import CLASSES

PATH = Path(ai_assistant.__file__).parent / "static/ai_assistant/code.css"
CSS = PATH.read_text()
THEMES = [
    dict(re.findall(r"(--aia-code-\w+): (#[0-9a-f]{6})", block))
    for block in re.findall(r"\{([^{}]*--aia-code-bg:[^{}]*)\}", CSS)
]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class TestCodeCss:
    def test_is_small(self):
        assert len(gzip.compress(CSS.encode())) < 1500

    def test_every_class_has_a_colour(self):
        for name in CLASSES:
            assert f"#aia .aia-code .{name} {{ color:" in CSS

    def test_dark_is_the_same_by_media_and_by_class(self):
        assert len(THEMES) == 3
        assert THEMES[1] == THEMES[2]

    @pytest.mark.parametrize("theme", THEMES[:2], ids=["light", "dark"])
    def test_colours_can_be_read(self, theme):
        ground = theme["--aia-code-bg"]
        colours = {name: value for name, value in theme.items() if value != ground}

        assert len(colours) == 9
        assert {k: v for k, v in colours.items() if contrast(v, ground) < 4.5} == {}

    def test_is_only_about_code(self):
        rules = re.findall(r"^(?:  )?([^\s@/{}][^{}]*)\{", CSS, re.M)

        assert rules
        assert all("#aia .aia-code" in rule for rule in rules)
