"""From the words with which a user names a questionnaire to its id."""

import re
from typing import Any

from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.wishes import NUMBER, cleaned
from project.demo_model import answers

LIST = "list_questionnaires"
NAME_CHARS = 300  # more is no title, and would make the patterns slow


def on_questionnaire(reference: str, done: list[Outcome], *, tool: str) -> Reply:
    """Find the questionnaire that `reference` means, call `tool` on it, tell."""
    title = _title(reference)
    if not done:
        if number := NUMBER.match(title):
            return Reply(call=_on(tool, int(number[1])))
        return Reply(
            reasoning=f"“{title}” is no number, so its id has to be looked up first.",
            call=Call(name=LIST, arguments={"search": title, "limit": 10}),
        )
    last = done[-1]
    if last.call.name != LIST or not isinstance(last.data, dict):
        return Reply(text=answers.result(last))
    chosen = _chosen(last.data["questionnaires"], title)
    if chosen is None:
        return Reply(text=answers.ambiguous(last.data, title))
    return Reply(call=_on(tool, chosen))


def _on(tool: str, questionnaire_id: int) -> Call:
    return Call(name=tool, arguments={"questionnaire_id": questionnaire_id})


def _title(reference: str) -> str:
    words = cleaned(reference[:NAME_CHARS])
    words = re.sub(r"^(?:the\s+)?(?:questionnaire\s+)?", "", words, flags=re.I)
    return cleaned(re.sub(r"\s+questionnaire\Z", "", words, flags=re.I))


def _chosen(rows: list[dict[str, Any]], title: str) -> int | None:
    """Return the id of the only row, or of the only one of just this title."""
    same = [row for row in rows if row["title"].lower() == title.lower()]
    fitting = same or rows
    return int(fitting[0]["id"]) if len(fitting) == 1 else None
