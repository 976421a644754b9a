"""What a client has done at once, without a run of its own: an undo, or a stop."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ag_ui.core import BaseEvent, CustomEvent, RunAgentInput
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ai_assistant.changes.undo.values import Choice
from ai_assistant.engine.queries import active_run
from ai_assistant.engine.service import (
    TargetKind,
    UndoRequest,
    UndoTarget,
    stop,
    undo,
    undo_plan,
    undo_summary,
)
from ai_assistant.exceptions import Refused
from ai_assistant.safety.identity.tokens import Scope
from ai_assistant.web.agui.input import fault_of, own_props
from ai_assistant.web.agui.threads import no_thread, own_id
from ai_assistant.web.panel.fields import MOST_ROWS
from ai_assistant.web.principal import Caller

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation

KINDS: tuple[TargetKind, ...] = ("run", "call", "change")
NAME_CHARS = 200
PLAN, UNDONE, STOPPING = "aia.undo_plan", "aia.undone", "aia.stopping"


class UndoProps(BaseModel):
    """What is to be undone; with the digest of its plan it is done."""

    model_config = ConfigDict(extra="forbid", strict=True)

    run: str | None = Field(None, max_length=NAME_CHARS)
    call: str | None = Field(None, max_length=NAME_CHARS)
    change: str | None = Field(None, max_length=NAME_CHARS)
    summary: str | None = Field(None, max_length=NAME_CHARS)
    digest: str = Field("", max_length=64)
    rows: list[str] | None = Field(None, max_length=MOST_ROWS)
    overrule: list[str] = Field([], max_length=MOST_ROWS)

    @property
    def names(self) -> dict[str, str]:
        """What is named, by its kind."""
        found = {kind: getattr(self, kind) for kind in (*KINDS, "summary")}
        return {kind: name for kind, name in found.items() if name is not None}


def _as_the_api(name: str) -> Callable[[Any], Any]:
    """Return what tells an undo as the API does; most clients never ask for one."""
    tell: Callable[[Any], Any] = import_string(f"ai_assistant.web.rest.undo.{name}")
    return tell


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanUndo:
    """Tell what an undo would do now."""

    caller: Caller
    target: UndoTarget

    async def events(self) -> list[BaseEvent]:
        """Return the plan. Raise Refused not_found."""
        caller = self.caller
        plan = await undo_plan(caller.user.pk, self.target, caller.stamp)
        return [CustomEvent(name=PLAN, value=_as_the_api("told_plan")(plan))]


@dataclass(frozen=True, kw_only=True, slots=True)
class DoUndo:
    """Undo what a person has decided, who has seen the plan."""

    request: UndoRequest

    async def events(self) -> list[BaseEvent]:
        """Do it; return what was done. Raise Moved with the new plan, and as `undo`."""
        undone = await undo(self.request)
        return [CustomEvent(name=UNDONE, value=_as_the_api("told_undone")(undone))]


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoSummary:
    """Take a summary back: the model is told the messages themselves again."""

    caller: Caller
    summary_id: UUID

    async def events(self) -> list[BaseEvent]:
        """Do it. Raise Refused: not_found, newer."""
        await undo_summary(self.caller.user.pk, self.summary_id)
        return [CustomEvent(name=UNDONE, value={"summary": str(self.summary_id)})]


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """Stop the run of a thread that is under way."""

    caller: Caller
    run_id: UUID

    async def events(self) -> list[BaseEvent]:
        """Ask for it; the stream of the run says when it has ended."""
        await stop(self.caller.user.pk, self.run_id)
        return [CustomEvent(name=STOPPING, value={"run": str(self.run_id)})]


Act = PlanUndo | DoUndo | UndoSummary | Stop


def asked_act(
    caller: Caller, body: RunAgentInput, conversation: "Conversation | None"
) -> Act | None:
    """
    Return what a client has done at once; None if its input is for a run.

    Raise Refused: not_found, bad_input, scope, ended if there is nothing to stop.
    """
    props = own_props(body)
    if "undo" not in props and props.get("stop") is not True:
        return None
    if conversation is None:
        raise no_thread(body.thread_id)
    if "undo" in props:
        return _undo(caller, props, conversation)
    active = active_run(conversation)
    if active is None:
        raise Refused("ended", _("This answer has ended."))
    return Stop(caller=caller, run_id=active.pk)


def _undo(
    caller: Caller, props: Mapping[str, Any], conversation: "Conversation"
) -> Act:
    try:
        asked = UndoProps.model_validate(props["undo"])
    except ValidationError as error:
        raise Refused("bad_input", fault_of(error, "forwardedProps.aia.undo")) from None
    if len(asked.names) != 1:
        sentence = _("“forwardedProps.aia.undo” must name one of: %(names)s.")
        names = ", ".join(f"“{name}”" for name in (*KINDS, "summary"))
        raise Refused("bad_input", sentence % {"names": names})
    if asked.summary is not None:
        return UndoSummary(caller=caller, summary_id=_id_of(asked.summary))
    (kind,) = (kind for kind in KINDS if kind in asked.names)
    name = asked.names[kind]
    row_id = _run_of(conversation, name) if kind == "run" else _id_of(name)
    target = UndoTarget(kind=kind, id=row_id)
    if not asked.digest:
        return PlanUndo(caller=caller, target=target)
    caller.check_scope(Scope.APPROVE)
    choice = Choice(
        rows=None if asked.rows is None else frozenset(asked.rows),
        overruled=frozenset(asked.overrule),
    )
    return DoUndo(
        request=UndoRequest(
            user_id=caller.user.pk,
            target=target,
            digest=asked.digest,
            choice=choice,
            stamp=caller.stamp,
        )
    )


def _run_of(conversation: "Conversation", name: str) -> UUID:
    """Return the run that a client calls `name`, or that has this id."""
    own = conversation.client_runs.filter(client_id=name).first()
    return own.run_id if own is not None else _id_of(name)


def _id_of(name: str) -> UUID:
    """Return the id. Raise Refused not_found if it is none."""
    found = own_id(name)
    if found is None:
        raise Refused("not_found", _("These changes do not exist."))
    return found
