"""
Tools for tests of the engine and of faults.

`write_effect` and `background_steps` write `Effect` rows; `write_external` appends
a line to the file that TESTAPP_EXTERNAL_FILE names, as a mail server would take a
letter: outside of any transaction. Tools that are held go on when the test has made
a file beside it.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import ai_assistant
from ai_assistant import RunContext, ToolFailed
from tests.testapp.models import Effect

EXTERNAL_FILE = "TESTAPP_EXTERNAL_FILE"
GATE_S = 0.02


@ai_assistant.tool(effect="read")
def remember(context: RunContext, key: str, value: str) -> str:
    """Keep a value with the run. For tests."""
    context.state[key] = value
    return value


@ai_assistant.tool(effect="write", takes_data=True)
def write_effect(context: RunContext, key: str, value: str = "") -> dict[str, str]:
    """Write one effect with this key and value."""
    Effect.objects.create(key=key, value=value, run=context.run_id)
    return {"key": key, "value": value}


@ai_assistant.tool(effect="read")
async def slow_read(seconds: float) -> dict[str, float]:
    """Take so many seconds and change nothing."""
    await asyncio.sleep(seconds)
    return {"seconds": seconds}


@ai_assistant.tool(effect="write", external=True, takes_data=True)
async def write_external(
    context: RunContext, key: str, seconds: float = 0
) -> dict[str, str]:
    """Write the key to the outside, then take so many seconds."""
    name = os.environ.get(EXTERNAL_FILE, "")
    if not name:
        raise ToolFailed(f"{EXTERNAL_FILE} is not set. Set it to the path of a file.")
    await asyncio.to_thread(_note, context, key)
    await asyncio.sleep(seconds)
    return {"key": key}


@ai_assistant.tool(effect="read")
def read_big(chars: int) -> dict[str, str]:
    """Return a text of so many characters."""
    return {"text": "x" * chars}


@ai_assistant.tool(effect="read")
def boom() -> None:
    """Raise an error that no tool should raise."""
    raise ZeroDivisionError("division by zero in boom()")


@ai_assistant.tool(
    effect="write", background=True, resumable=True, timeout_s=300, takes_data=True
)
def background_steps(
    context: RunContext, n: int, seconds: float = 0.1
) -> dict[str, int]:
    """Write n effects, `step-0` and on, each in a piece of so many seconds."""
    for step in range(context.mark or 0, n):
        time.sleep(seconds)
        with context.transaction(mark=step + 1):
            Effect.objects.create(
                key=f"step-{step}", value=context.idempotency_key, run=context.run_id
            )
        context.progress((step + 1) / n, f"{step + 1} of {n}")
    return {"written": n}


@ai_assistant.tool(
    effect="write", background=True, resumable=True, policy="allow", takes_data=True
)
def long_piece(
    context: RunContext, key: str, seconds: float = 0, held: str = ""
) -> dict[str, str]:
    """Write one effect in a piece that stays open for so many seconds, or is held."""
    return _in_one_piece(context, key, seconds, held)


@ai_assistant.tool(
    effect="write", background=True, resumable=False, policy="allow", takes_data=True
)
def long_piece_once(context: RunContext, key: str, seconds: float) -> dict[str, str]:
    """Do as `long_piece`, and do not go on after a crash."""
    return _in_one_piece(context, key, seconds)


def _in_one_piece(
    context: RunContext, key: str, seconds: float, held: str = ""
) -> dict[str, str]:
    _note(context, f"begun-{key}")
    with context.transaction(mark=1):
        Effect.objects.create(key=key, run=context.run_id)
        time.sleep(seconds)
        if held:
            _note(context, held)
        while held and not _is_let(held):
            time.sleep(GATE_S)
    return {"key": key}


@ai_assistant.tool(effect="write", policy="allow", takes_data=True)
def long_write(context: RunContext, key: str, seconds: float) -> dict[str, str]:
    """Write one effect, then keep its transaction open for so many seconds."""
    Effect.objects.create(key=key, run=context.run_id)
    _note(context, f"begun-{key}")
    time.sleep(seconds)
    return {"key": key}


if os.environ.get("TESTS_PAGES"):
    import tests.testapp.pages
if os.environ.get("TESTS_PROPOSALS"):
    import tests.testapp.many
    import tests.testapp.proposals  # noqa: F401 - registers


def _is_let(name: str) -> bool:
    """Tell whether the test has made the file `name` beside EXTERNAL_FILE."""
    return Path(os.environ[EXTERNAL_FILE]).with_name(name).exists()


def _note(context: RunContext, key: str) -> None:
    """Write the key to the outside, whatever becomes of the transaction."""
    line = f"{key}\t{context.idempotency_key}\n"
    with Path(os.environ[EXTERNAL_FILE]).open("a", encoding="utf-8") as file:
        file.write(line)


@ai_assistant.tool(effect="read", icon="chart", label="Measure")
async def measure(
    context: RunContext, place: str, held: str = ""
) -> AsyncGenerator[dict[str, object], None]:
    """Measure a place in three steps; each tells what was found so far."""
    found: list[int] = []
    for number, step in enumerate(("Reading", "Comparing", "Summing up"), 1):
        context.step(step)
        context.progress(number / 3, step)
        found.append(number * 10)
        yield {"place": place, "values": [*found], "sum": sum(found)}
        while held and not _is_let(f"{held}-{number}"):
            await asyncio.sleep(GATE_S)


@ai_assistant.tool(effect="read", background=True, timeout_s=300)
def held_task(context: RunContext, name: str, pieces: int) -> dict[str, int]:
    """Work in pieces; each waits for the file `name`-`piece` of the test."""
    for piece in range(1, pieces + 1):
        context.progress(piece / pieces, f"{piece} of {pieces}")
        while not _is_let(f"{name}-{piece}"):
            time.sleep(GATE_S)
    return {"pieces": pieces}


def wait_until_let(context: RunContext, name: str, key: str) -> None:
    """Wait for the file `name` of the test, before the transaction opens."""
    while not _is_let(name):
        time.sleep(GATE_S)


@ai_assistant.tool(
    effect="write",
    policy="allow",
    takes_data=True,
    prepare=wait_until_let,
    timeout_s=300,
)
def held_write(context: RunContext, name: str, key: str) -> dict[str, str]:
    """Write one effect, once the test lets it."""
    return write_effect(context, key)


@ai_assistant.tool(effect="ui", renders_only=True, label="Map of the place")
def map_card(place: str) -> None:
    """Show a place on a map."""


@ai_assistant.tool(effect="read")
def locate(context: RunContext, place: str) -> dict[str, str]:
    """Find a place, and show it."""
    context.step("Looking it up")
    context.show("map_card", place=place)
    return {"place": place}


@ai_assistant.tool(effect="read")
def torn(text: str) -> dict[str, str]:
    """Return the text; its card has a template that fails."""
    return {"text": text}


# Of sites that have this profile: no other one asks for them.
ai_assistant.suggestions(
    "of-a-questionnaire",
    instructions="Suggest what its editor would ask. [[script:written]]",
    profile="writer",
    model="questionnaires.questionnaire",
    view="change",
)
