"""The undo of what runs, calls or single changes have changed: its plan, and itself."""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.changes.display import sentences_of_gaps
from ai_assistant.changes.undo.values import Choice, Outcome, UndoPlan
from ai_assistant.engine.service import (
    Undone,
    UndoRequest,
    UndoTarget,
    go_back,
    undo,
    undo_plan,
)
from ai_assistant.web.panel.fields import MOST_ROWS
from ai_assistant.web.problems import Moved
from ai_assistant.web.rest.base import (
    ApiView,
    Scope,
    caller_of,
    carry_out,
    operation,
)
from ai_assistant.web.rest.serializers import Body, Moment, ReadSerializer, Text

OUTCOMES = [str(one) for one in Outcome]
KEY_CHARS = 500
Work = Callable[[UndoRequest], Coroutine[Any, Any, Undone]]
PROBLEMS = (
    "not_found",
    "moved",
    "busy",
    "nothing",
    "incomplete",
    "too_many",
    "undo_failed",
)


class UndoFieldSerializer(ReadSerializer):
    """One field of an object that stays."""

    name = serializers.CharField()
    label = serializers.CharField()
    outcome = serializers.ChoiceField(OUTCOMES)
    now = serializers.CharField(help_text="Its value.")
    restored = serializers.CharField(help_text="The value that it would have.")
    left = serializers.CharField(help_text="The value that the assistant had written.")
    reason = serializers.CharField(help_text="Why it stays; or empty.")


class UndoRowSerializer(ReadSerializer):
    """One object, and what becomes of it."""

    key = serializers.CharField(help_text="What `rows` and `overrule` name.")
    action = serializers.CharField(
        help_text="`change`, `create` (it was deleted), `delete` (it was created), "
        "`link` or `unlink`"
    )
    model = serializers.CharField()
    object_id = serializers.CharField()
    text = serializers.CharField()
    outcome = serializers.ChoiceField(
        OUTCOMES,
        help_text="`restore`, `same` (as before already), `conflict` (somebody has "
        "changed it since: it stays, unless it is overruled), `gone` or `blocked`",
    )
    reason = serializers.CharField()
    can_overrule = serializers.BooleanField()
    changed_by = serializers.CharField(help_text="Who has changed it since, if known.")
    changed_at = Moment(allow_null=True)
    fields = UndoFieldSerializer(many=True)


class PlanSerializer(ReadSerializer):
    """What an undo would do now, the newest change first."""

    digest = serializers.CharField(help_text="What a POST has to include.")
    does_something = serializers.BooleanField()
    gaps = serializers.SerializerMethodField(
        help_text="What was changed and cannot be undone, in sentences."
    )
    rows = UndoRowSerializer(many=True)

    def get_gaps(self, plan: UndoPlan) -> list[str]:
        return sentences_of_gaps(plan.gaps)


class UndoneSerializer(ReadSerializer):
    """What an undo has done."""

    change = serializers.UUIDField(
        source="change_id",
        allow_null=True,
        help_text="The change that it was; undo that to redo. Null if all was as before.",
    )
    undone = serializers.SerializerMethodField(help_text="The keys of its objects.")
    differing = serializers.ListField(
        child=serializers.CharField(),
        help_text="Those that the code of the site has left in another state.",
    )

    failed = serializers.SerializerMethodField(
        help_text="The keys of what could not be undone."
    )
    untouched = serializers.SerializerMethodField(
        help_text="The keys of what was not reached; a new plan is of these."
    )
    reason = serializers.CharField(
        help_text="Why an undo of many rows ended before its end; or empty."
    )

    def get_undone(self, done: Undone) -> list[str]:
        return [row.key for row in done.rows]

    def get_failed(self, done: Undone) -> list[str]:
        return [row.key for row in done.failed]

    def get_untouched(self, done: Undone) -> list[str]:
        return [row.key for row in done.untouched]


def told_plan(plan: UndoPlan) -> dict[str, Any]:
    """Return what programs are told of a plan."""
    return dict(PlanSerializer(plan).data)


def told_undone(undone: Undone) -> dict[str, Any]:
    """Return what programs are told of an undo. Raise Moved if nothing was undone."""
    if undone.moved is not None:
        raise Moved(told_plan(undone.moved))
    return dict(UndoneSerializer(undone).data)


class UndoBody(Body):
    """What a person has decided, who has seen the plan."""

    digest = Text(min_length=1, max_length=64, help_text="Of the plan.")
    rows = serializers.ListField(
        child=Text(min_length=1, max_length=KEY_CHARS),
        default=None,
        allow_null=True,
        max_length=MOST_ROWS,
        help_text="The keys of the objects to undo; without it all.",
    )
    overrule = serializers.ListField(
        child=Text(min_length=1, max_length=KEY_CHARS),
        default=list,
        max_length=MOST_ROWS,
        help_text="The keys of conflicts in which what people changed since is given up.",
    )


class UndoView(ApiView):
    """The undo of what a person's assistant has changed: its plan, and itself."""

    write_scope = Scope.APPROVE
    kind: ClassVar[Any]

    @operation(answers={200: PlanSerializer}, problems=("not_found",))
    def get(self, request: Request, id: UUID) -> Response:
        """Read what undoing these changes would do now."""
        return self.plan(request, id)

    @operation(
        body=UndoBody,
        answers={200: UndoneSerializer},
        problems=PROBLEMS,
        example={"digest": "9f86d0…"},
    )
    def post(self, request: Request, id: UUID) -> Response:
        """
        Do what the plan of that digest says.

        If something has moved since it was read, nothing is undone: the problem `moved`
        has the new plan as `plan`.
        """
        return self.do(request, id, undo)

    def plan(self, request: Request, own: UUID) -> Response:
        """Return the plan of the undo."""
        target, caller = UndoTarget(kind=self.kind, id=own), caller_of(request)
        plan = carry_out(undo_plan(caller.user.pk, target, caller.stamp))
        return Response(told_plan(plan))

    def do(self, request: Request, own: UUID, work: Work) -> Response:
        """Do what the person has decided; return what was done, or the new plan."""
        body, caller = self.read_body(), caller_of(request)
        rows = body["rows"]
        choice = Choice(
            rows=None if rows is None else frozenset(rows),
            overruled=frozenset(body["overrule"]),
        )
        decided = UndoRequest(
            user_id=caller.user.pk,
            target=UndoTarget(kind=self.kind, id=own),
            digest=body["digest"],
            choice=choice,
            stamp=caller.stamp,
        )
        return Response(told_undone(carry_out(work(decided))))


class RunUndoView(UndoView):
    """The undo of what a run has changed."""

    kind = "run"


class GoBackBody(UndoBody):
    """What a person has decided, who goes back to before a message."""

    digest = Text(
        default="",
        max_length=64,
        help_text="Of the plan; without it nothing is undone.",
    )


class RunGoBackView(UndoView):
    """Going back to before the message of a run: that and all later ones."""

    kind = "since"

    @operation(answers={200: PlanSerializer}, problems=("not_found",))
    def get(self, request: Request, id: UUID) -> Response:
        """Read what undoing the changes of a run and of all later ones would do now."""
        return self.plan(request, id)

    @operation(
        body=GoBackBody,
        answers={200: UndoneSerializer},
        problems=PROBLEMS,
        example={"digest": "9f86d0…"},
    )
    def post(self, request: Request, id: UUID) -> Response:
        """
        Do what the plan of that digest says, and show the conversation up to there.

        The next message begins another branch. Without a digest all changes stay. If
        something has moved since the plan was read, nothing is done: the problem `moved`
        has the new plan as `plan`.
        """
        return self.do(request, id, go_back)


class CallUndoView(UndoView):
    """The undo of what a call has changed."""

    kind = "call"


class ChangeUndoView(UndoView):
    """The undo of one change; that of an undo is a redo."""

    kind = "change"
