"""A whole run in the process of a test: no server, no broker, no key."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast
from uuid import UUID, uuid4

from ai_assistant.testing.function import FunctionProvider, Plays
from ai_assistant.testing.played import Played
from ai_assistant.testing.recorded import Recording
from ai_assistant.testing.scripted import Reply, ScriptedProvider
from ai_assistant.types import JSON, Provider


def run_assistant(  # noqa: PLR0913 - the sender, the page, the text, and who answers
    user: Any,  # noqa: ANN401 - the site's own user model
    path: str,
    text: str,
    *,
    replies: Iterable[Reply] = (),
    provider: Provider | Plays | None = None,
    context: Mapping[str, JSON] | None = None,
    conversation_id: UUID | None = None,
    raises: bool = False,
) -> Played:
    """
    Send `text` as `user` from the page at `path`; return the run as it then is.

    The real engine executes it in this thread and on this test's database until
    it has ended or waits for the person; long tools are carried out on the way.
    `replies` are what the model says, as `ScriptedProvider` takes them; instead,
    `provider` may be any provider, or an async function that plays the model.
    `context` is what the page tells and the person has kept: `browser` items,
    `mentioned` and `dropped`. With the `conversation_id` of an earlier run it is
    the next message there. With `raises` the error of a tool that fails by a fault of
    its own is raised here too, also when an interrupt of the run is answered; else
    it is a failed call and a traceback in the log. Raise AssertionError if the page, a key of `context` or
    an item does not exist, if a context provider fails, and if the run has
    succeeded and `replies` are left over.
    """
    # Here, since a settings module may import this package before the models are.
    from ai_assistant.testing import stage  # noqa: PLC0415

    message = stage.Message(
        user=user,
        path=path,
        text=text,
        context=context or {},
        conversation_id=conversation_id or uuid4(),
    )
    stage.check(message)
    recording = _recording(provider, tuple(replies))
    recording.raises = raises
    return stage.play(message, recording)


def answer_interrupt(
    played: Played,
    decision: Literal["", "approve", "deny", "skip"] = "",
    *,
    text: str = "",
    chosen: Iterable[str] = (),
    value: JSON = None,
) -> Played:
    """
    Answer the first open interrupt of a run; return the run as it goes on.

    An approval takes "approve" or "deny", with `text` as the reason of a denial;
    a question takes `text` as its answer, or `chosen` where it takes several, or
    "skip". A browser tool takes the `value` that the page returns, or `text` as the
    error that it raises. Raise AssertionError if nothing waits.
    """
    from ai_assistant.testing import stage  # noqa: PLC0415 - as above

    said = stage.Said(decision=decision, text=text, chosen=tuple(chosen), value=value)
    return stage.go_on(played, said)


def _recording(given: Provider | Plays | None, replies: tuple[Reply, ...]) -> Recording:
    if given is None:
        return Recording(provider=ScriptedProvider(replies), script=len(replies))
    if replies:
        raise TypeError("run_assistant takes 'replies' or a 'provider', not both.")
    if hasattr(given, "stream"):
        return Recording(provider=cast("Provider", given))
    return Recording(provider=FunctionProvider(given))
