"""Try one hook of a site, and whether it keeps runs apart."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai_assistant.exceptions import NotRegistered
from ai_assistant.hooks.passes import Asking
from ai_assistant.hooks.points import NextRound
from ai_assistant.hooks.running import ask
from ai_assistant.hooks.state import merged
from ai_assistant.registry import registry
from ai_assistant.types import JSON, PageInfo, RunContext
from ai_assistant.types.hook import Hook, State, namespace_of


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayedHook:
    """
    What a hook has made of a value.

    `value` is what the next hook gets, `refused` and `approval` the sentences of
    `Refuse` and `RequireApproval`, `state` what its app keeps by then.
    """

    value: Any
    state: Mapping[str, JSON]
    refused: str = ""
    approval: str = ""
    next_round: NextRound | None = None
    error: str = ""


def play_hook(  # noqa: PLR0913 - who sends it, from where, and what is kept
    hook: str | Callable[..., Any],
    value: Any,
    *,
    user: Any = None,
    path: str = "",
    module: str = "",
    agent: str = "",
    state: Mapping[str, JSON] | None = None,
    raises: bool = True,
) -> PlayedHook:
    """
    Call a registered hook, or its function, with `value`; return what came out.

    As in a run, but in this thread. `state` is what its app keeps. Raise AssertionError
    if it fails, or with `raises=False` return its `error`.
    """
    # Here, since a settings module may import this package before the models are.
    from ai_assistant.testing import stage  # noqa: PLC0415

    found = _found(hook)
    namespace = namespace_of(found.origin)
    before = {namespace: dict(state or {})}
    context = RunContext(
        user=user,
        run_id=uuid.uuid4(),
        conversation_id=uuid.uuid4(),
        page=PageInfo(path=path),
        module=module,
        agent=agent,
        state=State("", before),
    )
    with stage.one_thread():
        outcome = ask([found], Asking(value=value, context=lambda: context))
    error = outcome.failures[0].error if outcome.failures else ""
    if error and raises:
        raise AssertionError(f"Hook {found.name!r} failed: {error}")
    return PlayedHook(
        value=outcome.value,
        state=merged(before, outcome.changes).get(namespace, {}),
        refused=outcome.refused,
        approval=outcome.approval,
        next_round=outcome.next_round,
        error=error,
    )


def assert_runs_apart(
    hook: str | Callable[..., Any],
    first: Sequence[Any],
    second: Sequence[Any],
    **options: Any,
) -> None:
    """
    Raise AssertionError if a hook carries anything from one run into another.

    `first` and `second` are what two runs hand to it, one after another. It is called
    for each run alone, then for both in turns: each time the same has to come out.
    `options` are those of `play_hook`.
    """
    alone = [_played(hook, [values], options)[0] for values in (first, second)]
    in_turns = _played(hook, [first, second], options)
    for number, (one, other) in enumerate(zip(alone, in_turns, strict=True), 1):
        if one != other:
            raise AssertionError(
                f"Hook {_found(hook).name!r} does not keep runs apart: run {number} "
                f"alone gets {one!r}, beside another {other!r}. Keep everything in "
                "context.state."
            )


def _played(
    hook: str | Callable[..., Any],
    runs: Sequence[Sequence[Any]],
    options: Mapping[str, Any],
) -> list[list[PlayedHook]]:
    """Return what comes out for each run, when they take turns."""
    played: list[list[PlayedHook]] = [[] for _run in runs]
    for turn in range(max(map(len, runs))):
        for own, values in zip(played, runs, strict=True):
            if turn < len(values):
                state = own[-1].state if own else options.get("state")
                own.append(play_hook(hook, values[turn], **{**options, "state": state}))
    return played


def _found(hook: str | Callable[..., Any]) -> Hook:
    for own in registry.hooks():
        if hook in (own.name, own.function):
            return own
    names = ", ".join(sorted(own.name for own in registry.hooks())) or "none"
    raise NotRegistered(f"Hook {hook!r} is not registered. Registered are: {names}.")
