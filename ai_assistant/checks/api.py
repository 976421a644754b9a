"""The operations of the site's API that API_OPERATIONS and modules name."""

from collections.abc import Iterator

from django.core.checks import CheckMessage

from ai_assistant import conf
from ai_assistant.checks.messages import nearest, problem
from ai_assistant.registry import registry
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.base import Operation
from ai_assistant.tools.api.catalogue import NOT, Catalogue, catalogue, matching

SETTING = conf.typed("API_OPERATIONS")


def check_api() -> Iterator[CheckMessage]:
    """Yield what is named and cannot be called, and what matches nothing."""
    if not (patterns := conf.get("API_OPERATIONS")):
        return
    # An URLconf that cannot be read is reported by Django itself.
    known = value_or(None, catalogue)
    if known is None:
        return
    for pattern in patterns:
        yield from _of_pattern(pattern, known)
    yield from _of_modules(known)


def _of_modules(known: Catalogue) -> Iterator[CheckMessage]:
    for module in registry.modules().values():
        if isinstance(module.api_operations, str):
            continue  # its letters; E109 reports it
        for pattern in module.api_operations:
            if matching(pattern, known.operations.values()):
                continue
            names = [
                name for one in known.operations.values() for name in (one.id, one.name)
            ]
            near = nearest(pattern.removeprefix(NOT), names)
            yield problem(
                "ai_assistant.W193",
                f"Module {module.id!r} ({type(module).__module__}) chooses {pattern!r}, "
                f"which matches no operation that {SETTING} opts in.",
                f"Write {near!r}, or opt it in."
                if near
                else "Opt it in, or remove it.",
            )


def _of_pattern(pattern: str, known: Catalogue) -> Iterator[CheckMessage]:
    named = pattern.removeprefix(NOT)
    every = [*known.operations.values(), *known.left_out]
    found = matching(pattern, every)
    if not found:
        names = [name for one in every for name in (one.id, one.name)]
        near = nearest(named, names)
        yield problem(
            "ai_assistant.W190",
            f"{SETTING} has {pattern!r}, which matches no operation of the API.",
            f"Use {near!r}." if near else "Remove it, or correct it.",
        )
    elif pattern == named:
        yield from _not_callable(pattern, found)


def _not_callable(pattern: str, found: list[Operation]) -> Iterator[CheckMessage]:
    for one in found:
        if one.effect is None and not one.is_never:
            yield problem(
                "ai_assistant.W191",
                f"{SETTING} opts in {one.id!r} by {pattern!r}, of which nobody knows "
                f"what it does: its method is {one.method}.",
                "Say it with @ai_assistant.api_operation(effect=...), or leave it out: "
                f"'!{one.id}'.",
            )
        elif one.is_never and pattern in (one.id, one.name):
            yield problem(
                "ai_assistant.W192",
                f"{SETTING} names {one.id!r}, which the assistant never calls.",
                "Remove it: such views sign in or out, hand out tokens, or are the "
                "assistant's own.",
            )
