"""A page that shows another branch is drawn anew."""

from typing import Any
from uuid import UUID

from ai_assistant.render.html.fragments import entry_html, fragment
from ai_assistant.render.html.growth import Op
from ai_assistant.render.html.thread import Drawn
from ai_assistant.render.html.versions import versions_sentence


def anew(drawn: Drawn, panel: Any, conversation_id: UUID) -> list[Op]:  # noqa: ANN401
    """Return how all that is shown takes the place of what was; that is no news."""
    html = "".join(entry_html(entry, panel) for entry in drawn.entries)
    if drawn.earlier:
        named = {"conversation": conversation_id, "earlier": drawn.earlier}
        html = fragment("earlier", panel=named) + html
    ops: list[Op] = [["replace", "aia-log", html]]
    if said := versions_sentence(drawn.entries):
        ops.append(["say", said])
    return ops
