"""Wishes that the tools on all data fulfil: count, change, create, delete."""

import re
from typing import Any

from ai_assistant.providers.offline.messages import Call, Outcome, Reply
from ai_assistant.providers.offline.wishes import (
    SEARCH,
    cleaned,
    find,
    values_of,
    written,
)
from project.demo_model.nouns import KINDS, MANY, ONE, Noun, noun_of

MOST = 50  # a page of a search
COUNT = (
    rf"(?:how many|count)\s+(?:of\s+)?(?:the\s+|all\s+)?(?:(?P<kind>{KINDS})\s+)?"
    r"(?P<noun>schedules|question types|wiki pages|log lines|groups|users)\b"
)
CHANGE = (
    rf"change\s+(?:the\s+)?(?P<field>\w[\w ]{{0,59}}?)\s+of\s+(?:the\s+)?"
    rf"(?P<noun>{ONE})\s+(?P<title>.{{1,300}}?)\s+(?:to|into)\s+(?P<value>.+)$"
)
CHANGE_MANY = (
    rf"change\s+(?:the\s+)?(?P<field>\w[\w ]{{0,59}}?)\s+of\s+all\s+(?:the\s+)?"
    rf"(?:(?P<kind>{KINDS})\s+)?(?P<noun>{MANY})\s+(?:to|into)\s+(?P<value>.+)$"
)
CREATE = (
    r"(?:create|make)\s+(?:a\s+|an\s+)?(?:new\s+)?(?P<noun>questionnaire|wiki page|group)"
    r"\s+(?:called\s+|named\s+)?(?P<title>[^:]{1,200})(?::\s*(?P<text>.+))?$"
)
DELETE = rf"delete\s+(?:the\s+)?(?P<noun>{ONE})\s+(?P<title>.{{1,300}})$"


def count(match: re.Match[str], done: list[Outcome]) -> Reply:
    """Count the objects of a model, of one kind if that is said."""
    noun = noun_of(match["noun"])
    if done:
        number = done[-1].data["rows"][0]["count"]
        named = noun.one if number == 1 else noun.many
        kind = f"{match['kind'].lower()} " if _filters(match, noun) else ""
        return Reply(text=f"There {_is(number)} **{number}** {kind}{named}.")
    arguments: dict[str, Any] = {"model": noun.model}
    if filters := _filters(match, noun):
        arguments["filters"] = filters
    return Reply(call=Call(name="aggregate_objects", arguments=arguments))


def change(match: re.Match[str], done: list[Outcome]) -> Reply:
    """Find the object that is named, and give one field another value."""
    noun = noun_of(match["noun"])
    own = _found(noun, match["title"], done)
    if isinstance(own, Reply):
        return own
    arguments = {"model": noun.model, "id": own, "values": values_of(match)}
    return Reply(call=Call(name="change_object", arguments=arguments))


def change_many(match: re.Match[str], done: list[Outcome]) -> Reply:
    """Find all objects, and give one field of them the same value."""
    noun = noun_of(match["noun"])
    if not done:
        arguments: dict[str, Any] = {"model": noun.model, "page_size": MOST}
        if filters := _filters(match, noun):
            arguments["filters"] = filters
        return Reply(
            reasoning="Their ids have to be looked up first.",
            call=Call(name=SEARCH, arguments=arguments),
        )
    last = done[-1]
    if last.call.name != SEARCH:
        return Reply(text=written(last.data))
    rows, total = last.data["rows"], last.data["total"]
    if total > len(rows) or not rows:
        return Reply(
            text=f"There {_is(total)} {total} of them, and I change 1 to {MOST} at "
            "once. Nothing was done."
        )
    ids = [row["id"] for row in rows]
    arguments = {"model": noun.model, "ids": ids, "values": values_of(match)}
    return Reply(call=Call(name="change_objects", arguments=arguments))


def create(match: re.Match[str], done: list[Outcome]) -> Reply:
    """Add an object with a title, and a text behind a colon."""
    noun = noun_of(match["noun"])
    if done:
        return Reply(text=written(done[-1].data))
    assert noun.new is not None  # noqa: S101 - so are the nouns of the pattern
    values = noun.new(cleaned(match["title"]), (match["text"] or "").strip())
    arguments = {"model": noun.model, "values": values}
    return Reply(call=Call(name="create_object", arguments=arguments))


def delete(match: re.Match[str], done: list[Outcome]) -> Reply:
    """Find the object that is named, and delete it with what depends on it."""
    noun = noun_of(match["noun"])
    own = _found(noun, match["title"], done)
    if isinstance(own, Reply):
        return own
    arguments = {"model": noun.model, "ids": [own]}
    return Reply(
        text="What depends on it goes along; the card lists it.",
        call=Call(name="delete_objects", arguments=arguments),
    )


def _found(noun: Noun, words: str, done: list[Outcome]) -> Any:
    """Return the id of the object, or what to do or say instead."""
    return find(noun.model, noun.one, words, done, many=noun.many)


def _filters(match: re.Match[str], noun: Noun) -> dict[str, Any]:
    return noun.kinds.get((match["kind"] or "").lower(), {})


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
