"""Runs that wait for other agents, while their processes are killed at random."""

import os
import random
import subprocess
import time
from collections import Counter

import pytest

from tests.faults.scripts import call, calls, marker, story
from tests.faults.site import Site
from tests.servers.process import ROOT, python

pytestmark = [pytest.mark.faults, pytest.mark.row("H23")]

PARENTS_AT_ONCE = 3
CHILD_KEYS = ("below-a", "below-b", "step-0", "step-1", "step-2")
WORKER = """
from ai_assistant.models import Agent
for name in ("first", "second", "third"):
    Agent.objects.get_or_create(name=name, defaults={"text": f"You are the {name}."})
"""


@pytest.fixture
def delegating(each_site: Site) -> Site:
    """A site with three agents that may write, and a model that asks them."""
    site = each_site
    subprocess.run(
        python("manage.py", "shell", "-c", WORKER),
        cwd=ROOT,
        env=site.server.env,
        check=True,
        capture_output=True,
    )
    for part in site.parts:
        part.kill()  # each would know of no agent for some seconds more
    site.up()
    site.script(
        "asks-agents",
        [
            {"op": "text", "text": "Asking.", "rate": 30},
            calls(
                call("ask_agent", agent="first", task="[[script:below]]"),
                call("ask_agent", agent="second", task="[[script:below]]"),
                call("ask_agent", agent="third", task="[[script:above]]"),
            ),
        ],
        [call("write_effect", key="a")],
        [story()],
    )
    site.script(
        "below",
        [calls(*(call("write_effect", key=f"below-{one}") for one in "ab"))],
        [call("background_steps", n=3, seconds=0.05)],
        [story(rate=40)],
    )
    site.script(
        "above",
        [call("ask_agent", agent="first", task="[[script:below]]")],
        [story(rate=40)],
    )
    return site


def strike(site: Site, dice: random.Random) -> bool:
    """Kill a process that works on something; False if none does just now."""
    for part in site.parts:
        if not part.is_alive:
            part.start(wait=False)
    holders = site.holders()
    if not holders:
        time.sleep(0.02)
        return False
    time.sleep(dice.uniform(0, 0.5))
    dice.choice(holders).kill()
    return True


@pytest.mark.timeout(3600)
class TestKilled:
    def test_each_call_has_one_result_and_no_run_is_left(
        self, delegating: Site, strikes: int, figure
    ):
        site, struck, asked, parents = delegating, 0, 0, []
        known = {row["id"] for row in site.oracle.runs()}
        dice = random.Random(int(os.environ.get("FAULTS_SEED", "7")))
        while struck < strikes:
            site.up()
            for _ in range(PARENTS_AT_ONCE):
                person = site.person()
                person.new_conversation()
                parents.append(person.ask(marker("asks-agents", str(asked))))
                asked += 1
            end = time.monotonic() + 25
            while time.monotonic() < end and struck < strikes and unfinished(site):
                struck += strike(site, dice)
            site.up()
            site.oracle.wait(lambda: not unfinished(site), 90, "the end of all")

        figure("strikes on parents and children", [float(struck)])
        new = [row for row in site.oracle.runs() if row["id"] not in known]
        assert {row["state"] for row in new} <= {"succeeded", "failed", "needs_review"}
        assert not site.oracle.problems([row["id"] for row in new])
        check_effects(site, new)
        check_children(site, parents)


def unfinished(site: Site) -> list[str]:
    rows = site.oracle.rows("SELECT id FROM ai_assistant_run WHERE finished_at IS NULL")
    return [row["id"] for row in rows]


def check_effects(site: Site, new) -> None:
    """What a run that has succeeded was to write is there once, and nothing else."""
    wrote = Counter(
        {own: n for own, n in site.oracle.effects().items() if own[0] in known_ids(new)}
    )
    assert [own for own, n in wrote.items() if n > 1] == []
    done = [row["id"] for row in new if row["state"] == "succeeded" and row["agent"]]
    keys = {run: {key for own, key in wrote if own == run} for run in done}
    asks = {row["id"] for row in new if row["agent"] == "third"}  # and writes nothing
    wanted = {run: set() if run in asks else set(CHILD_KEYS) for run in done}
    assert keys == wanted


def known_ids(rows) -> set[str]:
    return {row["id"] for row in rows}


def check_children(site: Site, parents: list[str]) -> None:
    """Each call of an agent has one run below it, which has ended."""
    states = {parent: site.oracle.run(parent)["state"] for parent in parents}
    ended = [parent for parent, state in states.items() if state == "succeeded"]
    assert ended, states
    for parent in ended:
        asked = [one for one in site.oracle.calls(parent) if one["name"] == "ask_agent"]
        assert len(asked) == 3
        below = site.oracle.rows(
            "SELECT state FROM ai_assistant_run WHERE root_id = %s",
            site.oracle._id(parent),
        )
        assert len(below) == 4  # one of the three has asked another one
        assert all(one["status"] in ("complete", "failed") for one in asked)
