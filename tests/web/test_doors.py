"""What a person does leaves the same rows, through whichever door they come."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.web.agui.conftest import site  # noqa: F401 - a fixture
from tests.web.agui.site import Site, call, hold, text
from tests.web.agui.test_changes import (  # noqa: F401 - a fixture
    changing,
    page,
    write,
)
from tests.web.doors import Agui, Door, Panel, Rest

DOORS: tuple[type[Door], ...] = (Panel, Rest, Agui)
DONE = [text("Done.")]
# The rows without which an act has done nothing that could be compared.
LEAVES = {
    "send": "toolcall",
    "steer": "queuedmessage",
    "queue": "queuedmessage",
    "stop": "message",
    "approve": "changeset",
    "deny": "interrupt",
    "answer": "interrupt",
    "undo": "rowchange",
}
ACTS: dict[str, Callable[[Door, int], None]] = {}


def act(work: Callable[[Door, int], None]) -> Callable[[Door, int], None]:
    ACTS[work.__name__] = work
    return work


@act
def send(door: Door, _row: int) -> None:
    door.send(door.site.script([call("list_models")], DONE))
    door.wait("succeeded")


@act
def steer(door: Door, _row: int) -> None:
    gate = uuid4().hex
    later = door.site.script(DONE)
    door.send(door.site.script([text("I look."), hold(gate), call("list_models")]))
    door.wait_text()
    door.steer(later)
    door.note()
    door.site.model.release(gate)
    door.wait("succeeded")


@act
def queue(door: Door, _row: int) -> None:
    gate = uuid4().hex
    door.send(door.site.script([text("First."), hold(gate)]))
    door.wait_text()
    door.queue(door.site.script(DONE))
    door.note()
    door.site.model.release(gate)
    door.wait("succeeded", runs=2)


@act
def edit(door: Door, _row: int) -> None:
    door.send(door.site.script([text("First.")]))
    door.wait("succeeded")
    door.edit(door.site.script([text("Instead.")]))
    door.wait("succeeded", runs=2)


@act
def stop(door: Door, _row: int) -> None:
    gate = uuid4().hex
    door.send(door.site.script([text("Half an answer."), hold(gate)]))
    door.wait_text()
    door.stop()
    door.wait("cancelled")
    door.site.model.release(gate)


@act
def retry(door: Door, _row: int) -> None:
    failing = {"op": "status", "status": 400, "message": "No.", "times": 1}
    door.send(door.site.script([failing, *DONE]))
    door.wait("failed")
    door.retry()
    door.wait("succeeded", runs=2)


@act
def go_on(door: Door, row: int) -> None:
    stop(door, row)
    door.retry()
    door.wait("succeeded", runs=2)


@act
def approve(door: Door, row: int) -> None:
    door.send(changing(door.site, row))
    door.wait("waiting_approval")
    door.approve()
    door.wait("succeeded")


@act
def deny(door: Door, row: int) -> None:
    door.send(changing(door.site, row))
    door.wait("waiting_approval")
    door.deny("Not today.")
    door.wait("succeeded")


@act
def answer(door: Door, _row: int) -> None:
    asking = call("ask_user", question="Which colour?", kind="text")
    door.send(door.site.script([asking], DONE))
    door.wait("waiting_answer")
    door.answer("blue")
    door.wait("succeeded")


@act
def choose_agent(door: Door, _row: int) -> None:
    door.send(door.site.script(DONE), agent="analyst")
    door.wait("succeeded")


@act
def undo(door: Door, row: int) -> None:
    approve(door, row)
    door.undo()


@act
def regenerate(door: Door, _row: int) -> None:
    door.send(door.site.script(DONE))
    door.wait("succeeded")
    door.regenerate()
    door.wait("succeeded", runs=2)


@pytest.mark.row("L06")
@pytest.mark.parametrize("name", ACTS)
def test_same_rows_through_every_door(site: Site, page: int, name: str) -> None:  # noqa: F811
    found = {}
    for door in (kind(site=site) for kind in DOORS):
        old = ("Old title", page)
        write(site, "UPDATE wiki_page SET title = ? WHERE id = ?", old)
        ACTS[name](door, page)
        door.note()
        found[door.name] = door.noted

    assert any(noted[LEAVES.get(name, "step")] for noted in found["panel"])
    assert found["REST"] == found["panel"]
    assert found["AG-UI"] == found["panel"]
