"""Wishes about sections that name their questionnaire and not their number."""

import re
from typing import Any

from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.wishes import cleaned
from project.demo_model import answers
from project.demo_model.naming import on_questionnaire

READ, RENAME = "read_questionnaire", "rename_section"
BEFORE_NOUNS = ("all", "of", "the", "our", "my")


def noun(words: str) -> str:
    """Return what is to be counted, as the words begin, in lower case."""
    found = re.findall(r"\w+", words.lower())
    return next((word for word in found if word not in BEFORE_NOUNS), "")


def count(reference: str, done: list[Outcome]) -> Reply:
    """Read the questionnaire that `reference` means, and count its sections."""
    outline = _outline(done)
    if outline is None:
        return on_questionnaire(reference, done, tool=READ)
    return Reply(text=answers.section_count(outline))


def rename(wanted: str, reference: str, title: str, done: list[Outcome]) -> Reply:
    """Read the questionnaire, find the section of the title `wanted`, rename it."""
    outline = _outline(done)
    if outline is None:
        return on_questionnaire(reference, done, tool=READ)
    named = [
        section["id"]
        for section in outline.get("sections", ())
        if section["title"].lower() == cleaned(wanted).lower()
    ]
    if len(named) != 1:
        return Reply(text=answers.section_not_found(outline, wanted, len(named)))
    return Reply(
        reasoning=f"The section with this title has the number {named[0]}.",
        call=Call(name=RENAME, arguments={"section_id": named[0], "title": title}),
    )


def _outline(done: list[Outcome]) -> dict[str, Any] | None:
    """Return the outline, if it is what was read last."""
    if done and done[-1].call.name == READ and isinstance(done[-1].data, dict):
        return done[-1].data
    return None
