"""
List the rows of docs/features.md for which no test is marked.

A test says `@pytest.mark.row("F09")`, or `pytestmark` does so for its file. Fails
if a mark names a row that the table does not have; with --check, also if a row
has no test.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| ([A-Z]\d\d) \| (.+?) \|", re.MULTILINE)
MARK = re.compile(r"mark\.row\(\s*([^)]*)\)")
NAME = re.compile(r"[\"']([A-Z]\d\d)[\"']")


def table(text: str) -> dict[str, str]:
    """Return the rows of the feature table: id to name."""
    return dict(ROW.findall(text))


def marks(sources: list[str]) -> set[str]:
    """Return the ids that any test of `sources` is marked with."""
    return {
        name
        for source in sources
        for arguments in MARK.findall(source)
        for name in NAME.findall(arguments)
    }


def main(*, check: bool) -> int:
    """Print the rows without a test and return the exit code."""
    rows = table((ROOT / "docs" / "features.md").read_text(encoding="utf-8"))
    files = sorted((ROOT / "tests").rglob("*.py"))
    marked = marks([file.read_text(encoding="utf-8") for file in files])
    without = {name: text for name, text in rows.items() if name not in marked}
    for name, text in without.items():
        print(f"{name}  {text}")
    unknown = sorted(marked - set(rows))
    if unknown:
        print(f"Marked, and not in docs/features.md: {', '.join(unknown)}")
    print(f"{len(rows)} rows, {len(without)} without a test")
    return 1 if unknown or (check and without) else 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
