"""Frames: what is sent to a page, made of the operations that redraw it."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from ai_assistant.render.html.transcript.growing import Op

Frame = dict[str, Any]
# The ways of htmx to change what stands; `upsert` is the panel's own.
SWAPS = ("innerMorph", "outerMorph", "upsert", "delete")


def frames_of(ops: list[Op], seq: int, run_id: UUID | None) -> list[Frame]:
    """
    Return the frames after which a page shows event `seq` of the run.

    A page swaps the HTML of a frame, then lets texts grow, then hears what is told.
    So what cannot be swapped before is in a frame of its own. Only the last one says
    the state, and how far the page is.
    """
    drawn = list(_in_order([op for op in ops if op[0] != "state"]))
    states = [op[1] for op in ops if op[0] == "state"]
    if states:
        drawn = drawn or [{}]
        drawn[-1]["state"] = states[-1]
    frames = [{"s": seq, "r": str(run_id or ""), **frame} for frame in drawn]
    for frame in frames[:-1]:
        frame["more"] = True
    return frames


def _in_order(ops: list[Op]) -> Iterator[Frame]:
    frame: Frame = {}
    for name, target, value in ops:
        if name not in SWAPS:
            frame.setdefault(name, []).append([target, value])
            continue
        if _is_too_early(frame, target, value):
            yield frame
            frame = {}
        frame["html"] = frame.get("html", "") + _swap(name, target, value)
    if frame:
        yield frame


def _is_too_early(frame: Frame, target: str, html: str) -> bool:
    """Return whether the frame makes the target, or lets a text in it grow."""
    grown = {grown_id.rpartition("-")[0] for grown_id, _ in frame.get("grow", ())}
    is_made = f'id="{target}"' in frame.get("html", "")
    return is_made or any(one in target or one in html for one in grown)


def _swap(style: str, target: str, html: str) -> str:
    """Return what htmx swaps out of band, whatever the element around it."""
    where = f'data-aia-hx-target="#{target}" data-aia-hx-swap="{style}"'
    return f"<hx-partial {where}>{html}</hx-partial>"
