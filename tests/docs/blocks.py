"""The code blocks of a page, in order."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^ *```$", re.M | re.S
)
NAMED = re.compile(r"(?:# (\S+\.py)|\{# (\S+\.html) #\})\n")


@dataclass(frozen=True)
class Block:
    """`file` is what its first line names, if that is a comment with a path."""

    language: str
    code: str

    @property
    def file(self):
        named = NAMED.match(self.code)
        return (named[1] or named[2]) if named else ""


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def section(text, heading):
    """Return the part of a page below `## heading`."""
    _, found, rest = text.partition(f"\n## {heading}\n")
    assert found, f"There is no section {heading!r}."
    return rest.partition("\n## ")[0]


def blocks(text):
    return [
        Block(found["language"], _without(found["indent"], found["code"]))
        for found in FENCE.finditer(text)
    ]


def _without(indent, code):
    return "".join(line.removeprefix(indent) for line in code.splitlines(keepends=True))
