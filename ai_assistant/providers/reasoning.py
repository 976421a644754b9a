"""
How much a model may think before it answers, in the words of its provider.

Claude and Gemini are given a budget of tokens; all others an effort.
"""

from collections.abc import Mapping
from typing import Any

EFFORTS = ("minimal", "low", "medium", "high")
BUDGET_TOKENS = 8_000  # a good one to begin with
MAX_TOKENS = 16_000  # of a reply with its thoughts, unless OPTIONS say otherwise
LEAST_TOKENS = 1_024  # of a budget; providers refuse less
UP_TO: Mapping[int, str] = {2_000: "low", 8_000: "medium"}  # more is high
THINK_BY_BUDGET = ("claude", "gemini")


def reasoning_options(
    profile: Mapping[str, Any], wanted: str | int = ""
) -> dict[str, Any]:
    """
    Return the options of a request for a profile, with those for its reasoning.

    `wanted` goes before REASONING of the profile: an effort, or a budget of tokens.
    What OPTIONS say themselves stays.
    """
    own = dict(profile.get("OPTIONS") or {})
    level = as_level(wanted or profile.get("REASONING") or "")
    if not level:
        return own
    model = str(profile.get("MODEL") or "")
    if isinstance(level, str) or not thinks_by_budget(model):
        return {"reasoning_effort": effort_of(level), **own}
    thinking = {"type": "enabled", "budget_tokens": level}
    return {"thinking": thinking, "max_tokens": MAX_TOKENS, **own}


def as_level(value: str | int) -> str | int:
    """Return an effort or a budget, also of "8000" as a row of the admin has it."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def thinks_by_budget(model: str) -> bool:
    """Return whether a model takes a budget of tokens."""
    return any(family in model.lower() for family in THINK_BY_BUDGET)


def effort_of(level: str | int) -> str:
    """Return the effort nearest to a budget."""
    if isinstance(level, str):
        return level
    return next((effort for most, effort in UP_TO.items() if level <= most), "high")


def reasoning_problem(profile: Mapping[str, Any], wanted: str | int = "") -> str:
    """Return what is wrong with REASONING of a profile; empty if nothing is."""
    level = as_level(wanted or profile.get("REASONING") or "")
    if isinstance(level, bool) or not isinstance(level, str | int):
        return f"is {level!r}. Use one of {EFFORTS}, or a number of tokens."
    if isinstance(level, str):
        is_known = not level or level in EFFORTS
        return "" if is_known else f"is {level!r}. Use one of {EFFORTS}."
    if level < LEAST_TOKENS:
        return f"is {level} tokens. Use {LEAST_TOKENS} or more."
    options = profile.get("OPTIONS")
    most = (options if isinstance(options, Mapping) else {}).get("max_tokens")
    room = most if isinstance(most, int) else MAX_TOKENS
    if level >= room:
        return (
            f"is {level} tokens, and leaves none of max_tokens, {room}, for the "
            "answer. Use fewer, or set OPTIONS['max_tokens'] higher."
        )
    return ""
