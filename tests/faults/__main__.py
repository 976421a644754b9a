"""
`python -m tests.faults`: the fault matrix, databases by layers.

Every layout in turn, each with its share of the strikes. The last line is
`N passed, N failed, N skipped`; the figures of the tests stand above it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tests.faults.site import LAYOUTS
from tests.servers.process import ROOT, python

STRIKES, TRIALS = 1200, 10
WORST = "failure", "error"


def run(layout: str, arguments: argparse.Namespace, report: Path) -> None:
    """Run all tests on one layout, and leave a report."""
    share = -(-arguments.strikes // len(arguments.layouts))
    env = {
        **os.environ,
        "FAULTS_LAYOUTS": layout,
        "FAULTS_STRIKES": str(share),
        "FAULTS_TRIALS": str(arguments.trials),
    }
    command = python("-m", "pytest", "tests/faults", "-m", "faults", "--timeout=3600")
    junit = (f"--junitxml={report}", "-o", "junit_family=xunit1")  # for the figures
    extra = [*junit, "-q", *arguments.rest]
    subprocess.run([*command, *extra], cwd=ROOT, env=env, check=False)


def read(report: Path) -> tuple[Counter[str], list[str]]:
    """Return how the tests of a report ended, and their figures."""
    counts: Counter[str] = Counter()
    figures = []
    if not report.exists():
        return Counter(failed=1), ["the tests did not start"]
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - our own file
        kinds = {child.tag for child in case}
        if kinds & {*WORST}:
            counts["failed"] += 1
            figures.append(f"FAILED {case.get('name')}")
        else:
            counts["skipped" if "skipped" in kinds else "passed"] += 1
        figures += [str(found.get("value")) for found in case.iter("property")]
    return counts, figures


def summary(counts: Counter[str]) -> str:
    return ", ".join(
        f"{counts[name]} {name}" for name in ("passed", "failed", "skipped")
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("--strikes", type=int, default=STRIKES, help="in all layouts")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each test")
    parser.add_argument("--layouts", nargs="+", choices=[*LAYOUTS], default=[*LAYOUTS])
    parser.add_argument("rest", nargs="*", help="after --: arguments of pytest")
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for layout in arguments.layouts:
            print(f"\n=== {layout} ===", flush=True)
            report = Path(folder) / f"{layout}.xml"
            run(layout, arguments, report)
            counts, figures = read(report)
            total += counts
            lines.append(f"{layout:16} {summary(counts)}")
            lines += [f"    {figure}" for figure in figures]
    print("\n" + "\n".join(lines))
    print(summary(total))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
