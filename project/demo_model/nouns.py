"""What a person calls the models of the demo, and what a new object of one needs."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.utils.text import slugify

Values = Callable[[str, str], dict[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Noun:
    """A model: its name for the tools, and the filters that an adjective stands for."""

    model: str
    one: str
    many: str
    kinds: dict[str, dict[str, Any]] = field(default_factory=dict)
    new: Values | None = None  # from a title and a text; None: it needs more


def _of(column: str, words: str) -> dict[str, dict[str, Any]]:
    return {word: {column: word} for word in words.split()}


NOUNS = (
    Noun(
        model="questionnaires.questionnaire",
        one="questionnaire",
        many="questionnaires",
        kinds=_of("status", "draft published archived"),
        new=lambda title, text: {"title": title, "description": text},
    ),
    Noun(
        model="questionnaires.schedule",
        one="schedule",
        many="schedules",
        kinds={"active": {"active": True}, "paused": {"active": False}},
    ),
    Noun(
        model="questionnaires.questiontype", one="question type", many="question types"
    ),
    Noun(model="questionnaires.question", one="question", many="questions"),
    Noun(
        model="wiki.page",
        one="wiki page",
        many="wiki pages",
        new=lambda title, text: {
            "title": title,
            "slug": slugify(title),
            "text": text or title,
        },
    ),
    Noun(
        model="discover.logline",
        one="log line",
        many="log lines",
        kinds=_of("level", "debug info warning error"),
    ),
    Noun(
        model="auth.group",
        one="group",
        many="groups",
        new=lambda title, text: {"name": title},
    ),
    Noun(model="auth.user", one="user", many="users"),
)
ONE = "|".join(noun.one for noun in NOUNS)
MANY = "|".join(noun.many for noun in NOUNS)
KINDS = "|".join(dict.fromkeys(kind for noun in NOUNS for kind in noun.kinds))


def noun_of(words: str) -> Noun:
    """Return the noun that `words` are, in one of its two forms."""
    said = re.sub(r"\s+", " ", words.strip().lower())
    return next(noun for noun in NOUNS if said in {noun.one, noun.many})
