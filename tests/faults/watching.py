"""How tests look at a run from outside while things happen to it."""

import re
import time

from tests.faults.scripts import telling_of
from tests.faults.site import Site
from tests.servers.client import Person
from tests.servers.process import Process

WORD = re.compile(r"\b[a-z]+(\d+)\b")


def wait_text(site: Site, run: str, *, chars: int = 20) -> None:
    """Wait until so much of the running message is in the log."""

    def told() -> bool:
        events = site.oracle.events(run)
        deltas = [e["payload"].get("delta", "") for e in events if "TEXT" in e["type"]]
        return len("".join(deltas)) >= chars

    site.oracle.wait(told, 20, f"text of {run}")


def wait_call(site: Site, run: str, status: str, *, timeout_s: float = 20) -> None:
    """Wait until the last call of a run has `status`."""

    def seen() -> bool:
        calls = site.oracle.calls(run)
        return bool(calls) and calls[-1]["status"] == status

    site.oracle.wait(seen, timeout_s, f"a call of {run} that is {status}")


def freeze(site: Site, part: Process) -> None:
    """
    Freeze a process in a moment in which it holds no lock of SQLite's.

    With one it would hold up the whole site, and nobody could take its run over.
    """
    part.pause()
    while site.oracle.is_locked():
        part.resume()
        time.sleep(0.05)
        part.pause()


def wait_resumed(site: Site, run: str, *, epoch: int, begin: float) -> float:
    """Return how long after `begin` another process has taken the run over."""
    site.oracle.wait(
        lambda: site.oracle.run(run)["epoch"] > epoch, 20, f"{run} taken over"
    )
    return time.monotonic() - begin


def shown_tellings(page: str) -> set[int]:
    """Return which tellings of a story the words of a drawn panel belong to."""
    answers = re.findall(
        r'<article [^>]*data-role="assistant".*?</article>', page, re.DOTALL
    )
    said = re.sub(r"<[^>]*>", " ", " ".join(answers))
    return {int(number) for number in WORD.findall(said)}


def assert_whole(site: Site, person: Person, run: str, tag: str) -> int:
    """Check that a story ended whole and is shown so; return which telling it is."""
    row = site.oracle.wait_final(run, 60)
    assert row["state"] == "succeeded", (row["error_text"], row["error_detail"])
    texts = [text for text in site.oracle.texts(run) if text]
    assert len(texts) == 1
    telling = telling_of(texts[0], tag)
    assert telling, texts
    shown = shown_tellings(person.page())
    assert shown == {telling}
    assert not site.oracle.problems([run])
    return telling
