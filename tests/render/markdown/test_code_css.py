import gzip
import re
from pathlib import Path

import pytest

import ai_assistant
from ai_assistant.render.markdown.highlight import CLASSES

PATH = Path(ai_assistant.__file__).parent / "static/ai_assistant/code.css"
CSS = PATH.read_text()
COLOUR = r"(--aia-code-\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"
GROUNDS = ("#f8f8f8", "#212121")  # --aia-bg2 in Django's admin
THEMES = [
    {found[0]: found[side] for found in re.findall(COLOUR, CSS)} for side in (1, 2)
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
    def test_code_css_is_small(self):
        assert len(gzip.compress(CSS.encode())) < 1500

    def test_every_class_has_a_colour(self):
        for name in CLASSES:
            assert re.search(rf"#aia \.aia-code \.{name} \{{\s*color:", CSS)

    def test_every_colour_has_both_sides(self):
        assert len(re.findall(r"--aia-code-\w+:", CSS)) == len(THEMES[0]) == 9

    @pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
    def test_colours_can_be_read(self, side):
        ground = GROUNDS[side]

        poor = {k: v for k, v in THEMES[side].items() if contrast(v, ground) < 4.5}
        assert poor == {}

    def test_code_css_is_only_about_code(self):
        rules = re.findall(r"^(?:  )?([^\s@/{}][^{}]*)\{", CSS, re.M)

        assert rules
        assert all("#aia .aia-code" in rule for rule in rules)
