"""What a test says of the calls of a run."""

from ai_assistant.testing.recorded import Played, PlayedCall
from ai_assistant.types import JSON


def assert_tool_called(played: Played, name: str, /, **arguments: JSON) -> PlayedCall:
    """
    Return the first call of the tool `name` with these arguments.

    Arguments that are not named may have any value. Raise AssertionError, saying
    which calls there were, if there is none.
    """
    for call in played.calls:
        if call.name == name and _has(call, arguments):
            return call
    raise AssertionError(
        f"Tool {_as_call(name, arguments)} was not called. {_told(played)}"
    )


def assert_tool_not_called(played: Played, name: str, /, **arguments: JSON) -> None:
    """Raise AssertionError if the tool `name` was called with these arguments."""
    for call in played.calls:
        if call.name == name and _has(call, arguments):
            raise AssertionError(
                f"Tool {_as_call(name, call.arguments)} was called. {_told(played)}"
            )


def assert_script_is_used_up(played: Played) -> None:
    """Raise AssertionError if replies that a test has listed were never played."""
    script, asked = played.recording.script, len(played.requests)
    if script is None or asked >= script:
        return
    raise AssertionError(
        f"Of {script} replies {script - asked} were not played: the model was asked "
        f"{asked} times. Take them away, or find out why it was not asked again. "
        f"{_told(played)}"
    )


def _has(call: PlayedCall, arguments: dict[str, JSON]) -> bool:
    return all(
        key in call.arguments and call.arguments[key] == value
        for key, value in arguments.items()
    )


def _told(played: Played) -> str:
    if played.calls:
        calls = [f"{_as_call(c.name, c.arguments)}: {c.status}" for c in played.calls]
        told = f"Called were: {'; '.join(calls)}."
    else:
        told = "No tool was called."
    why = f" ({played.error})" if played.error else ""
    return f"{told} The run is {played.state!r}{why}."


def _as_call(name: str, arguments: object) -> str:
    said = dict(arguments) if isinstance(arguments, dict) else {}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in said.items())})"
