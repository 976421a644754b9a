"""The tool with which the assistant takes back what it has changed for a person."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import Field

from ai_assistant.changes.display import sentences_of_gaps
from ai_assistant.changes.undo.values import (
    DOES,
    Choice,
    Outcome,
    UndoPlan,
    UndoRequest,
    UndoRow,
    UndoTarget,
)
from ai_assistant.changes.values import (
    ChangeKind,
    Changes,
    FieldChange,
    ObjectChange,
)
from ai_assistant.decorators import tool
from ai_assistant.engine.calls.writes import has_moved
from ai_assistant.engine.queries import calls, changes, hidden_runs, row_changes, runs
from ai_assistant.engine.undo import read_plan, undo
from ai_assistant.exceptions import Differs, ModelRetry, ToolFailed
from ai_assistant.models.change import ChangeSet
from ai_assistant.safety.identity.session import stamp_of_run
from ai_assistant.types import RunContext, ToolResult

MOST_ROWS = 200  # of one call; more of them a person undoes from the list of changes
WARNINGS = 10  # about objects that stay as they are
KEYS_NAMED = 20
WRITE_S = 20.0
KINDS: dict[str, ChangeKind] = {
    "change": "change",
    "create": "create",
    "delete": "delete",
    "link": "link",
    "unlink": "link",
}

Rows = Annotated[
    tuple[str, ...],
    Field(
        max_length=MOST_ROWS,
        description='"app.model:id" of some objects',
    ),
]
Of = Annotated[
    UUID | None,
    Field(description="its id"),
]


def preview_undo(
    context: RunContext,
    rows: Rows = (),
    run: Of = None,
    call: Of = None,
    change: Of = None,
) -> Changes:
    """Return the plan of the undo as the change that it is."""
    target = _target(context, run=run, call=call, change=change)
    plan = read_plan(context.user.pk, target, stamp_of_run(context.run_id))
    chosen = plan.chosen(_choice(plan, rows))
    work = [row for row in chosen if row.does_something]
    kept = list(_kept(chosen))
    if not work:
        raise ToolFailed(
            " ".join([_("There is nothing that can be undone."), *kept[:WARNINGS]])
        )
    if len(work) > MOST_ROWS:
        raise ToolFailed(
            _("At most %(most)d objects can be undone at once.") % {"most": MOST_ROWS},
            suggestion=_("Name some in rows, or point to Undo below that answer."),
        )
    more = len(kept) - WARNINGS
    warnings = [*sentences_of_gaps(plan.gaps), *kept[:WARNINGS]]
    if more > 0:
        warnings.append(_("%(count)d more stay as they are.") % {"count": more})
    return Changes(
        title=plan.title(len(work)),
        verb=plan.verb,
        objects=tuple(map(_object, work)),
        total=len(work),
        warnings=tuple(warnings),
        rows_argument="rows",
        plan=plan.digest,
    )


@tool(
    effect="destructive",
    policy="ask",
    label=gettext_lazy("Undo changes"),
    preview=preview_undo,
    rows_argument="rows",
    write_timeout_s=WRITE_S,
    shared=True,
    icon="retry",
    prompt_hint=(
        "If the user wants something taken back that you have changed, call "
        "undo_changes instead of changing it back: it knows what was there before."
    ),
)
def undo_changes(
    context: RunContext,
    rows: Rows = (),
    run: Of = None,
    call: Of = None,
    change: Of = None,
) -> ToolResult:
    """
    Take back what you have changed for this user, all of it or some objects.

    Without an id: what your last answer here changed. What people changed since
    stays. The result has the id of this change: with it as `change` it is redone.
    """
    if not context.actions.plan:
        raise ToolFailed(_("Only a person who has seen what it does can approve it."))
    target = _target(context, run=run, call=call, change=change)
    undone = undo(
        UndoRequest(
            user_id=context.user.pk,
            target=target,
            digest=context.actions.plan,
            choice=Choice(rows=frozenset(rows) if rows else None),
            stamp=stamp_of_run(context.run_id),
            asked_in=context.run_id,
        )
    )
    if undone.moved is not None:
        raise Differs(has_moved())
    if undone.reason:  # a call is whole, or nothing
        raise ToolFailed(undone.reason)
    return ToolResult(
        ok=True,
        message=_done(len(undone.rows)),
        data={"change": str(undone.change_id) if undone.change_id else None},
        changed=tuple(
            {"model": row.model, "id": row.object_id, "text": row.text}
            for row in undone.rows
        ),
    )


def _done(count: int) -> str:
    text = ngettext("%(count)d change undone", "%(count)d changes undone", count)
    return text % {"count": count}


# --- which changes: only those that were made for this user ---


def _target(
    context: RunContext, *, run: UUID | None, call: UUID | None, change: UUID | None
) -> UndoTarget:
    user_id = context.user.pk
    own: dict[Any, Any] = {"run": runs, "call": calls, "change": changes}
    named = {"run": run, "call": call, "change": change}
    given = {kind: key for kind, key in named.items() if key is not None}
    if len(given) > 1:
        raise ModelRetry("Give one of run, call and change, not several.")
    for kind, key in given.items():
        # Also who may undo the changes of others does that by hand only.
        if not own[kind](user_id).filter(pk=key).exists():
            raise ModelRetry(f"There is no {kind} {str(key)!r} of this user.")
        return UndoTarget(kind=kind, id=key)  # type: ignore[arg-type] # one of these
    open_rows = row_changes(user_id).filter(
        undone_by=None,
        change_set__kind=ChangeSet.Kind.CALL,
        change_set__run__conversation=context.conversation_id,
    )
    shown = open_rows.exclude(
        change_set__run__in=hidden_runs(context.conversation_id)
    ).order_by("-change_set__created_at")
    last = shown.values_list("change_set__run_id", flat=True).first()
    if last is None:
        raise ToolFailed(
            _("Nothing that was changed in this conversation can be undone.")
        )
    return UndoTarget(kind="run", id=last)


def _choice(plan: UndoPlan, rows: Sequence[str]) -> Choice:
    keys = [row.key for row in plan.rows]
    unknown = [key for key in rows if key not in keys]
    if unknown:
        raise ModelRetry(
            f"{', '.join(map(repr, unknown[:KEYS_NAMED]))} is not among what was "
            f"changed. These are: {', '.join(map(repr, keys[:KEYS_NAMED]))}."
        )
    return Choice(rows=frozenset(rows) if rows else None)


# --- how the plan is shown ---


def _object(row: UndoRow) -> ObjectChange:
    fields = tuple(
        FieldChange(
            name=one.name,
            label=one.label,
            before=one.now,
            after=one.restored,
            attname=one.attname,
            raw=one.raw,
        )
        for one in row.shown_fields
        if one.outcome in DOES
    )
    return ObjectChange(
        kind=KINDS[row.action],
        model=row.model,
        object_id=row.object_id,
        text=row.text,
        fields=fields,
    )


def _kept(rows: list[UndoRow]) -> Iterator[str]:
    """Yield a sentence for each object that stays, or of which a field stays."""
    for row in rows:
        if row.outcome == Outcome.CONFLICT:
            yield _changed_since(row)
        elif row.outcome in (Outcome.GONE, Outcome.BLOCKED):
            yield f"“{row.text}”: {row.reason}"
        for one in row.fields:
            if one.outcome == Outcome.BLOCKED and one.reason != row.reason:
                yield f"“{row.text}”, {one.label}: {one.reason}"


def _changed_since(row: UndoRow) -> str:
    if row.reason:
        return f"“{row.text}”: {row.reason}"
    names = [one.label for one in row.fields if one.outcome == Outcome.CONFLICT]
    values = {
        "object": row.text,
        "fields": ", ".join(names),
        "user": row.changed_by,
    }
    if not row.changed_by:
        return _("“%(object)s”: %(fields)s stays, it was changed since.") % values
    return _("“%(object)s”: %(fields)s stays, %(user)s has changed it since.") % values
