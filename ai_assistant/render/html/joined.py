"""An answer that was cut and went on is drawn as one message."""

from collections.abc import Iterable, Iterator

from ai_assistant.engine.continued import goes_on
from ai_assistant.models.run import Run
from ai_assistant.render.html.entries import Entry


def answers(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield what is drawn of each run, in order; user messages are no runs."""
    for entry in entries:
        if entry["kind"] == "run":
            yield entry
            yield from entry.get("later", ())


def add_run(entries: list[Entry], new: list[Entry], run: Run) -> None:
    """
    Add what is drawn of `run` to what stands above it.

    What goes on with the answer above becomes a part of its message: of the question
    that nobody typed a seam stays, and what stood under that answer goes.
    """
    message = entries[-1] if entries else None
    above = [*answers([message])][-1:] if message else []
    if not (goes_on(run) and above and above[0]["run_id"] == str(run.after_id)):
        entries += new
        return
    *said, answer = new
    above[0]["is_continued"] = True
    # What is copied is the whole of it.
    answer["has_text"] = any(one.get("has_text") for one in (above[0], answer))
    answer["seam"] = said[0] if said else None
    entries[-1].setdefault("later", []).append(answer)
