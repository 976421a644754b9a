"""
List what failed in a test run of several parts, for the end of a long output.

Reads the JUnit files of a folder, one a part, and prints for each failed test its part,
name and the last lines of its trace. Takes the folder; the exit code is always 0.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

LINES = 12


def failures(file: Path) -> Iterator[str]:
    """Yield a paragraph for each test of `file` that failed or could not be set up."""
    for case in ElementTree.parse(file).iter("testcase"):  # noqa: S314  (our own file)
        for fault in [*case.iterfind("failure"), *case.iterfind("error")]:
            lines = (fault.text or fault.get("message") or "").strip().splitlines()
            name = f"{case.get('classname')}::{case.get('name')}"
            yield "\n  ".join([f"{file.stem}: {name}", *lines[-LINES:]])


def main(folder: str) -> int:
    """Print the failures of all parts."""
    found = [
        text for file in sorted(Path(folder).glob("*.xml")) for text in failures(file)
    ]
    print(f"\n{len(found)} tests failed", *found, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
