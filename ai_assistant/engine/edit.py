"""The form in which a person changes what a call proposes."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.approvals import Edited
from ai_assistant.engine.attempt import Attempt, context_for
from ai_assistant.engine.offer import tool_of
from ai_assistant.engine.propose import looked_at
from ai_assistant.exceptions import Refused
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.tools.result import from_exception
from ai_assistant.types import Editor, RunContext, ToolResult, UserKey

logger = logging.getLogger("ai_assistant")


def edit_form(user_id: UserKey, interrupt_id: UUID) -> Any:  # noqa: ANN401 - a Django form
    """Return the form of an open proposal, with its values. Raise Refused."""
    attempt, editor = _open(user_id, interrupt_id)
    return _form(attempt, editor, context_for(attempt))


def edited(user_id: UserKey, interrupt_id: UUID, data: Mapping[str, Any]) -> Edited:
    """
    Return what the person wrote into the form, and what that would change.

    Raise Refused invalid with a sentence for each field that is wrong.
    """
    attempt, editor = _open(user_id, interrupt_id)
    call, context = attempt.call, context_for(attempt)
    of_digest, old = call.arguments_digest, dict(call.arguments)
    form = _form(attempt, editor, context, data)
    if not form.is_valid():
        raise Refused("invalid", _said(form))
    call.arguments = editor.arguments(form, old)  # in memory, for the preview
    found = looked_at(attempt, context)
    if isinstance(found, ToolResult):
        raise _refused(found)
    return Edited(arguments=call.arguments, changes=found, of_digest=of_digest)


def _open(user_id: UserKey, interrupt_id: UUID) -> tuple[Attempt, Editor]:
    waiting = Interrupt.objects.select_related("run", "call").filter(
        pk=interrupt_id, run__user_id=user_id, kind=Interrupt.Kind.APPROVAL
    )
    found = waiting.first()
    if found is None:
        raise Refused("not_found", _("This question does not exist."))
    if found.status != Interrupt.Status.OPEN:
        raise Refused(
            "already_answered", _("This was answered already, in another place.")
        )
    tool = tool_of(found.run, found.call.name)
    if tool is None or tool.editor is None or found.proposal is None:
        raise Refused("bad_decision", _("This cannot be edited."))
    attempt = Attempt(run=found.run, call=found.call, tool=tool)
    return replace(attempt, is_proposal=True), tool.editor


def _form(
    attempt: Attempt,
    editor: Editor,
    context: RunContext,
    data: Mapping[str, Any] | None = None,
) -> Any:  # noqa: ANN401 - a Django form
    """Return the form. Raise Refused if there is none: the object is gone, perhaps."""
    try:
        return editor.form(context, dict(attempt.call.arguments), data)
    except Refused:
        raise
    except Exception as error:
        found = from_exception(attempt.call.name, error)
        if found.error_type == "exception":
            logger.exception("the form of a call of %r failed", attempt.call.name)
        raise _refused(found) from error


def _refused(found: ToolResult) -> Refused:
    return Refused(found.error_type or "invalid", found.error or found.message)


def _said(form: Any) -> str:  # noqa: ANN401
    told = []
    for name, errors in form.errors.items():
        label = form.fields[name].label if name in form.fields else ""
        told.append(f"{label or name}: {' '.join(map(str, errors))}")
    return " ".join(told)
