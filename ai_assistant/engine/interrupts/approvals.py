"""What a person says to a proposal: as shown, some rows of it, or with other values."""

from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.changes import values
from ai_assistant.changes.values import Changes, label, model_of_label
from ai_assistant.changes.verify.description import with_total
from ai_assistant.engine.calls.availability import tool_of
from ai_assistant.engine.lifecycle.waits import close, let_go_on
from ai_assistant.events import Event
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.policy import Grant
from ai_assistant.safety.identity.permissions import fresh_user, may_call
from ai_assistant.safety.policy.policy import judge
from ai_assistant.text.redaction import redact_values_json
from ai_assistant.tools.parsing import digest
from ai_assistant.types import ToolDefinition, UserKey


@dataclass(frozen=True, kw_only=True, slots=True)
class Edited:
    """The arguments that the person wrote instead, and what they would change."""

    arguments: dict[str, Any]
    changes: Changes
    of_digest: str  # of the arguments that were on the card


def approve(
    interrupt: Interrupt,
    user_id: UserKey,
    *,
    rows: tuple[str, ...] | None = None,
    edited: Edited | None = None,
    for_run: bool = False,
) -> list[Event]:
    """
    Approve the call: all of it, the chosen `rows`, or what the person wrote.

    With `for_run` the same tool need not ask again on the same model. Raise Refused:
    stale, permission, policy, no_rows, not_for_run, already_answered.
    """
    call = interrupt.call
    tool = tool_of(interrupt.run, call.name)
    shown = interrupt.arguments_digest
    if tool is None or shown != digest(call.name, call.arguments):
        raise Refused("stale", _("This has changed since it was shown."))
    if interrupt.proposal and values.readable(interrupt.proposal) is None:
        raise Refused("stale", _("This was shown by another release. Deny it."))
    _check_allowed(interrupt, tool, user_id)
    if edited is not None:
        _take_edited(interrupt, tool, edited)
    elif rows is not None:
        _take_rows(interrupt, tool, rows)
    if for_run:
        _grant(interrupt, tool, user_id)
    said = {"edited": edited is not None, "rows": rows and list(rows)}
    facts = close(interrupt, Interrupt.Status.APPROVED, user_id, said)
    ToolCall.objects.filter(pk=call.pk).update(approved=True)
    return facts + let_go_on(call)


def _check_allowed(
    interrupt: Interrupt, tool: ToolDefinition, user_id: UserKey
) -> None:
    user = fresh_user(user_id)
    if not may_call(user, tool):
        raise Refused("permission", _("You have no permission for this any more."))
    verdict = judge(tool, user=user, module=interrupt.run.module)
    if verdict.decision == "deny":
        raise Refused("policy", _("This site does not allow this any more."))


def _take_edited(interrupt: Interrupt, tool: ToolDefinition, edited: Edited) -> None:
    """Let the call be one of what the person wrote, which nobody need show again."""
    if tool.editor is None or edited.of_digest != interrupt.arguments_digest:
        raise Refused("stale", _("This has changed since it was shown."))
    _rewrite(interrupt, edited.arguments, edited.changes)


def _take_rows(
    interrupt: Interrupt, tool: ToolDefinition, rows: tuple[str, ...]
) -> None:
    """Leave out the rows that were not chosen. Those beyond the shown ones stay."""
    name = tool.rows_argument
    if not name or interrupt.proposal is None:
        raise Refused("bad_decision", _("There are no rows to choose from."))
    shown = values.from_json(interrupt.proposal)
    own = [one for one in shown.objects if one.model == shown.model]
    listed = {one.object_id for one in own}
    given = interrupt.call.arguments.get(name, [])
    if not listed.intersection(rows):
        raise Refused("no_rows", _("Choose at least one row, or deny it."))
    dropped = listed - set(rows)
    if not dropped:
        return
    model = model_of_label(shown.model)
    table = shown.model if model is None else label(model)  # behind a proxy
    # An id that is written in another way would bring back what was left out.
    beyond = _ids_beyond(shown, given) - listed
    left = [one for one in given if str(one) in beyond.union(rows)]
    if not left:
        raise Refused("no_rows", _("Choose at least one row, or deny it."))
    changes = replace(
        with_total(shown, len({str(one) for one in left})),
        objects=tuple(
            one
            for one in shown.objects
            if one.model != shown.model or one.object_id not in dropped
        ),
        related=tuple(replace(one, at_most=True) for one in shown.related),
        versions={
            key: digest_
            for key, digest_ in shown.versions.items()
            if key not in {f"{table}:{left_out}" for left_out in dropped}
        },
    )
    _rewrite(interrupt, {**interrupt.call.arguments, name: left}, changes)


def _ids_beyond(shown: Changes, given: list[Any]) -> set[str]:
    """Return the ids, as they are written in the proposal, of rows not shown too."""
    if shown.versions:
        return {key.partition(":")[2] for key in shown.versions}
    is_whole = shown.total <= len(shown.objects)
    return set() if is_whole else {str(one) for one in given}


def _rewrite(interrupt: Interrupt, arguments: dict[str, Any], changes: Changes) -> None:
    """Bind call and interrupt to other arguments, decided by the person."""
    call = interrupt.call
    call.arguments = arguments
    call.arguments_digest = digest(call.name, arguments)
    call.save(update_fields=["arguments", "arguments_digest"])
    interrupt.arguments_digest = call.arguments_digest
    interrupt.proposal = redact_values_json(values.to_json(changes))
    interrupt.save(update_fields=["arguments_digest", "proposal"])


def _grant(interrupt: Interrupt, tool: ToolDefinition, user_id: UserKey) -> None:
    if tool.effect != "write" or tool.external:
        raise Refused(
            "not_for_run",
            _("This has to be approved each time: it may not be undone."),
        )
    model = values.from_json(interrupt.proposal).model if interrupt.proposal else ""
    Grant.objects.get_or_create(
        run_id=interrupt.run_id,
        tool=tool.name,
        model=model,
        defaults={"user_id": user_id},
    )
