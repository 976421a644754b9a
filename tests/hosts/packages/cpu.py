"""
What the writes of the forms of each site take, beside the POST of their pages.

`python -m tests.hosts.packages --cpu [NAME ...]` prints it, with the medians, and returns
1 if one of them is over its limit.
"""

import dataclasses
import importlib
import json
import os
import statistics
from typing import Any

from tests.hosts.packages.environment import constant, run_in

PRINT = "from tests.hosts.packages import cpu; cpu.print_figures()"

Figure = dict[str, Any]  # a FormWrite


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """What the medians may take over the page: one of both is enough."""

    share: float
    ms: float = 0.0

    def holds(self, over_ms: float, share: float) -> bool:
        return share <= self.share or over_ms <= self.ms

    def __str__(self) -> str:
        ms = f"{self.ms:.0f} ms or " if self.ms else ""
        return f"at most {ms}{self.share:.0%}"


# By whether the forms are taken directly.
LIMITS = {True: Limit(ms=5, share=0.6), False: Limit(share=1.2)}


def measure(names: list[str]) -> int:
    """
    Print the CPU of each form, and the medians.

    Return 1 if a site has failed, if a median is over its limit, or if there is none.
    """
    print(f"load before: {os.getloadavg()[0]:.2f} of {os.cpu_count()}", flush=True)
    figures: list[Figure] = []
    has_failed = False
    for name in names:
        if constant(name, "TENANTS"):
            continue  # its forms are those of another site
        done = run_in(name, "-c", PRINT)
        if done is None:
            continue
        if done.returncode:
            print(f"{name}: FAILED", done.stderr[-3000:], sep="\n", flush=True)
            has_failed = True
        for line in done.stdout.splitlines():
            figure = json.loads(line)
            figures.append(figure)
            print(f"{name}: {_told(figure)}", flush=True)
    is_held = print_medians(figures)
    print(f"load after: {os.getloadavg()[0]:.2f}", flush=True)
    return int(has_failed or not is_held)


def _told(figure: Figure) -> str:
    way = "direct" if figure["is_direct"] else "by its view"
    page, tool = figure["page_ms"], figure["tool_ms"]
    over = f"{tool - page:+.1f} ms, {tool / page - 1:+.0%}"
    return f"{figure['name']} ({way}): page {page:.1f} ms, tool {tool:.1f} ms, {over}"


def print_medians(figures: list[Figure]) -> bool:
    """Print the medians; return whether there are some, and all are in their limits."""
    if not figures:
        print("No form was measured.", flush=True)
    groups = [
        [one for one in figures if one["is_direct"] is is_direct]
        for is_direct in LIMITS
    ]
    held = [_print_median(group) for group in groups if group]
    return bool(held) and all(held)


def _print_median(figures: list[Figure]) -> bool:
    is_direct = figures[0]["is_direct"]
    over = statistics.median(one["tool_ms"] - one["page_ms"] for one in figures)
    share = statistics.median(one["tool_ms"] / one["page_ms"] - 1 for one in figures)
    limit = LIMITS[is_direct]
    is_held = limit.holds(over, share)
    way = "taken directly" if is_direct else "taken by their views"
    told = f"median {over:+.1f} ms, {share:+.0%} over the page ({limit})"
    sign = "" if is_held else "OVER: "
    print(f"{sign}{len(figures)} forms {way}: {told}", flush=True)
    return is_held


# --- in the environment of a site ---


def print_figures() -> None:
    """Print the figures of this site, a JSON object on a line each."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.hosts.packages.settings"
    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.test import Client

    from tests.bench.form_writes import measured

    call_command("migrate", verbosity=0, run_syncdb=True)
    cases = importlib.import_module(f"{settings.OWN_APP}.cases")
    cases.make()
    boss = get_user_model().objects.create_superuser("ada", password="hunter2hunter2")
    client = Client()
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    for figure in measured(cases.CASES, client, boss):
        print(json.dumps(dataclasses.asdict(figure)), flush=True)
