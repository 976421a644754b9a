"""What the demo model suggests after an answer, by the words of the wish."""

import re
from collections.abc import Sequence

from project.demo_model.messages import (
    FOLLOWUPS,
    Call,
    Message,
    last_wish,
    outcomes,
)

OF_OBJECT = (
    "Check this {what}.",
    "What is still empty in this {what}?",
    "Who changed this {what}, and when?",
    "Summarize this {what}.",
)
OF_LIST = ("List draft questionnaires", "How many questions are there?")
OBJECT = re.compile(
    r"(?:check|summari[sz]e|what is still empty in|who changed) this "
    r"(?P<what>[\w ]{1,60}?)(?:, and when)?\s*[.?!]*",
    re.IGNORECASE,
)
LIST = re.compile(
    r"(?:list|how many|count)\b.{0,80}\bquestionnaires\b.*", re.IGNORECASE
)
MOST = 3


def followups(messages: Sequence[Message]) -> Call | None:
    """Return the call that suggests what to ask next; None if nothing comes to mind."""
    done, wish = outcomes(messages), last_wish(messages)
    if not done or not done[-1].ok:
        return None
    items: Sequence[str] = ()
    if match := OBJECT.fullmatch(wish):
        items = [text.format(what=match["what"]) for text in OF_OBJECT]
    elif LIST.fullmatch(wish):
        items = OF_LIST
    others = [text for text in items if text.lower() != wish.lower()]
    return Call(name=FOLLOWUPS, arguments={"items": others[:MOST]}) if others else None
