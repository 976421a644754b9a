"""
Rules: patterns of the user's words, each with a function that says what to do next.

It is given the match, what the tools have answered so far, and the page. The first rule
that fits and has an answer wins.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ai_assistant.providers.offline import answers
from ai_assistant.providers.offline.messages import (
    Message,
    Outcome,
    Reply,
    before_go_on,
    before_interjection,
    last_wish,
    memories,
    outcomes,
)
from ai_assistant.providers.offline.page import Page, page_of

Plan = Callable[[re.Match[str], list[Outcome], Page], Reply | None]

GO_ON = re.compile(r"go on\W*|continue\W*", re.IGNORECASE)
RECALL = re.compile(r"what (?:do|did) you (?:remember|know about me)\b", re.IGNORECASE)
POLITE = re.compile(
    r"^(?:(?:please|can you|could you|would you|now|no|wait|stop|actually|instead"
    r"|hold on|first|ok|okay)[,.! ]+)+",
    re.I,
)
# What a person writes instead of an answer, to be answered itself.
ASKS = re.compile(
    r".*\?\s*$|(?:how|what|which|who|when|why|list|show|count|tell)\b", re.I | re.DOTALL
)


class Rules:
    """Rules in order; made of `parts`, to which more are added."""

    def __init__(self, *parts: "Rules") -> None:
        self.all: list[tuple[re.Pattern[str], Plan]] = [
            one for part in parts for one in part.all
        ]

    def rule(self, pattern: str) -> Callable[[Plan], Plan]:
        """Add a rule for words that match `pattern` from their beginning."""
        return self._adding(re.compile(pattern, re.IGNORECASE | re.DOTALL))

    def sentence(self, pattern: str) -> Callable[[Plan], Plan]:
        """Add a rule for a sentence that matches `pattern` as a whole."""
        return self._adding(re.compile(rf"{pattern}\s*[.?!]*\s*$", re.IGNORECASE))

    def _adding(self, pattern: re.Pattern[str]) -> Callable[[Plan], Plan]:
        def add(plan: Plan) -> Plan:
            self.all.append((pattern, plan))
            return plan

        return add

    def reply(self, words: str, done: list[Outcome], page: Page) -> Reply | None:
        """Return what the first rule says that fits; None if none does."""
        if done and not done[-1].ok:
            fits = any(pattern.match(words) for pattern, _plan in self.all)
            return Reply(text=answers.failure(done[-1])) if fits else None
        for pattern, plan in self.all:
            match = pattern.match(words)
            if match and (reply := plan(match, done, page)):
                return reply
        return None


def answer(messages: Sequence[Message], rules: Rules, what_it_is: str) -> Reply:
    """Return what is to be said or called now; `what_it_is` introduces who says it."""
    wish = last_wish(messages)
    if GO_ON.fullmatch(wish) and (unfinished := before_go_on(messages)):
        rest = answer(unfinished.messages, rules, what_it_is)
        return _rest(rest, unfinished.said)
    if RECALL.match(wish):
        return Reply(text=answers.remembered(memories(messages)))
    words = POLITE.sub("", wish)
    reply = rules.reply(words, outcomes(messages), page_of(messages))
    if reply is not None:
        return reply
    unknown = answers.unknown(what_it_is, wish)
    earlier = before_interjection(messages)
    if earlier is None:
        return Reply(text=unknown)
    told = answer(earlier, rules, what_it_is)
    is_denied = bool((past := outcomes(earlier)) and past[-1].error_type == "denied")
    if is_denied and ASKS.match(words):
        return Reply(text=f"{told.text}\n\n{unknown}".strip())
    return told


def _rest(reply: Reply, said: str) -> Reply:
    """Return what is left to say of `reply`, of which `said` was said."""
    if reply.text.startswith(said):
        return replace(reply, reasoning="", text=reply.text[len(said) :])
    return reply
