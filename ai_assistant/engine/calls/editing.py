"""The form in which a person changes what a call proposes."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from ai_assistant.engine.calls.attempt import TIMEOUT, Attempt, context_for
from ai_assistant.engine.calls.preview import looked_at
from ai_assistant.engine.calls.recording import result_of, tell
from ai_assistant.engine.interrupts.approval import APPROVAL
from ai_assistant.engine.interrupts.base import Edited
from ai_assistant.engine.interrupts.results import tool_of_call
from ai_assistant.engine.queries import get_or_404, interrupts
from ai_assistant.engine.storage.units import in_db, with_connections
from ai_assistant.exceptions import Ask, Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.safety.bulkhead import Bulkhead, BulkheadFull, CodeTimedOut
from ai_assistant.tools.result import from_exception
from ai_assistant.types import Editor, RunContext, ToolResult, UserKey

logger = logging.getLogger("ai_assistant")

T = TypeVar("T")

# Of their own: forms that hang must not take the threads of the tools.
_forms = ThreadPoolExecutor(max_workers=64, thread_name_prefix="aia-form")
_bulkheads: dict[str, Bulkhead] = {}  # one for each form: none waits for another


class WrongValues(Refused):
    """The person's values are not valid; `form` has the error of each field."""

    def __init__(self, form: Any, code: str = "invalid") -> None:
        super().__init__(code, _said(form))
        self.form = form


class _Limit(NamedTuple):
    key: str  # the key of a form: the tool, and the model that it would change
    call: ToolCall
    timeout_s: float


async def in_form_time(
    user_id: UserKey, interrupt_id: UUID, work: Callable[[], T]
) -> T:
    """
    Return what `work` does with the form of an open proposal: make, check, draw it.

    It is code of the site, and gets the time of the tool. Raise Refused: timeout if
    it takes longer, or hangs since an earlier time; or for what it raises.
    """
    limit = await in_db(_limit, user_id, interrupt_id)
    bulkhead = _bulkheads.setdefault(limit.key, Bulkhead())
    safe = partial(with_connections, partial(_guarded, limit.call, work))
    try:
        return await bulkhead.aask(_forms, limit.key, safe, timeout_s=limit.timeout_s)
    except CodeTimedOut as error:
        logger.warning("the form of %r took too long", limit.key)
        raise _given_up(limit) from error
    except BulkheadFull as error:
        logger.warning("the form of %r hangs, and is not called", limit.key)
        raise _hangs(limit) from error


def edit_form(user_id: UserKey, interrupt_id: UUID) -> Any:
    """Return the form of an open proposal, with its values. Raise Refused."""
    attempt, editor = _open(user_id, interrupt_id)
    with _told(attempt.call):
        return _form(attempt, editor, context_for(attempt))


def edited(user_id: UserKey, interrupt_id: UUID, data: Mapping[str, Any]) -> Edited:
    """
    Return what the person wrote into the form, and what that would change.

    Raise WrongValues if a field is wrong, or all of them together; else Refused.
    """
    attempt, editor = _open(user_id, interrupt_id)
    call = attempt.call
    of_digest, old = call.arguments_digest, dict(call.arguments)
    with _told(call):
        context = context_for(attempt)
        form = _form(attempt, editor, context, data)
        if not form.is_valid():
            raise WrongValues(form)
        call.arguments = editor.arguments(form, old)  # in memory, for the preview
    found = looked_at(attempt, context)
    if isinstance(found, Ask):
        found = result_of(call, TypeError("the preview of edited values asks nothing"))
    if isinstance(found, ToolResult):
        _add_errors(form, found)
        raise WrongValues(form, found.error_type or "invalid")
    return Edited(arguments=call.arguments, changes=found, of_digest=of_digest)


def _limit(user_id: UserKey, interrupt_id: UUID) -> _Limit:
    attempt, _editor = _open(user_id, interrupt_id)
    proposal = attempt.call.interrupts.get(pk=interrupt_id).proposal
    model = proposal.get("model", "") if isinstance(proposal, dict) else ""
    call = attempt.call
    return _Limit(f"{call.name} {model}", call, attempt.timeout_s)


def _open(user_id: UserKey, interrupt_id: UUID) -> tuple[Attempt, Editor]:
    own = interrupts(user_id).filter(kind=APPROVAL.name)
    found = get_or_404(own, interrupt_id, _("This question does not exist."))
    if found.status != Interrupt.Status.OPEN:
        raise Refused("already_answered", _("This was already answered elsewhere."))
    tool = tool_of_call(found.run, found.call)
    if tool is None or tool.approval.editor is None or found.proposal is None:
        raise Refused("bad_decision", _("This cannot be edited."))
    attempt = Attempt(run=found.run, call=found.call, tool=tool)
    return replace(attempt, is_proposal=True), tool.approval.editor


def _form(
    attempt: Attempt,
    editor: Editor,
    context: RunContext,
    data: Mapping[str, Any] | None = None,
) -> Any:
    return editor.form(context, dict(attempt.call.arguments), data)


@contextmanager
def _told(call: ToolCall) -> Iterator[None]:
    """Raise Refused, with a sentence, for what code of the site raises."""
    try:
        yield
    except (Refused, Http404):
        raise
    except Exception as error:
        found = from_exception(call.label or call.name, error)  # a person reads it
        if found.error_type == "exception":
            tell(call, error)
        said = found.error or found.message
        raise Refused(found.error_type or "invalid", said) from error


def _guarded(call: ToolCall, work: Callable[[], T]) -> T:
    with _told(call):
        return work()


def _add_errors(form: Any, found: ToolResult) -> None:
    """Put what is wrong with the whole beside the fields that it names, if it does."""
    named = found.data.get("fields") if isinstance(found.data, dict) else None
    errors = named if isinstance(named, dict) else {}
    own = {name: told for name, told in errors.items() if name in form.fields}
    for name, told in own.items():
        form.add_error(name, told)
    if not own or len(own) < len(errors):
        form.add_error(None, found.error or found.message)


def _given_up(limit: _Limit) -> Refused:
    said = _("The form of “%(name)s” timed out after %(limit)s s.")
    limit_s = f"{limit.timeout_s:g}"
    return Refused(
        TIMEOUT, said % {"name": limit.call.label or limit.call.name, "limit": limit_s}
    )


def _hangs(limit: _Limit) -> Refused:
    said = _("The form of “%(name)s” hangs, and is not called until it returns.")
    return Refused(TIMEOUT, said % {"name": limit.call.label or limit.call.name})


def _said(form: Any) -> str:
    told = []
    for name, errors in form.errors.items():
        label = form.fields[name].label if name in form.fields else ""
        sentences = " ".join(map(str, errors))
        told.append(f"{label}: {sentences}" if label else sentences)
    return " ".join(told)
