"""What is suggested after an answer, by the words of the wish."""

import re
from collections.abc import Sequence

from ai_assistant.providers.offline.messages import (
    FOLLOWUPS,
    Call,
    Message,
    last_wish,
    outcomes,
)

# Whole sentences, and what follows them; the groups of the match are filled in.
Followed = Sequence[tuple[re.Pattern[str], Sequence[str]]]

OF_OBJECT = (
    "Check this {what}.",
    "What is still empty in this {what}?",
    "Who changed this {what}, and when?",
    "Summarize this {what}.",
)
FOLLOWED: Followed = (
    (
        re.compile(
            r"(?:check|summari[sz]e|what is still empty in|who changed) this "
            r"(?P<what>[\w ]{1,60}?)(?:, and when)?\s*[.?!]*",
            re.IGNORECASE,
        ),
        OF_OBJECT,
    ),
)
MOST = 3


def followups(messages: Sequence[Message], followed: Followed) -> Call | None:
    """Return the call that suggests what to ask next; None if nothing comes to mind."""
    done, wish = outcomes(messages), last_wish(messages)
    if not done or not done[-1].ok:
        return None
    for pattern, texts in followed:
        if match := pattern.fullmatch(wish):
            items = [text.format(**match.groupdict()) for text in texts]
            others = [text for text in items if text.lower() != wish.lower()][:MOST]
            return Call(name=FOLLOWUPS, arguments={"items": others})
    return None
