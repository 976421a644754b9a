from typing import Any
from uuid import UUID

from django.core.validators import RegexValidator
from django.db.models import Q
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.changes.stored import stored_changes
from ai_assistant.changes.values import Changes, FieldChange
from ai_assistant.engine.queries import interrupts
from ai_assistant.engine.service import (
    ANSWER_CHARS,
    Answer,
    answer,
    clean_text,
    kind_names,
    kind_of,
    options_of,
)
from ai_assistant.exceptions import Ask
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.text.hidden_characters import looks_like
from ai_assistant.web.panel.fields import MOST_ROWS
from ai_assistant.web.rest import lists
from ai_assistant.web.rest.base import (
    ApiViewSet,
    Scope,
    caller_of,
    carry_out,
    operation,
    user_key,
)
from ai_assistant.web.rest.serializers import (
    Body,
    ReadModelSerializer,
    ReadSerializer,
    Text,
)


class FieldSerializer(ReadSerializer):
    """One field of one object, as texts for a person."""

    name = serializers.CharField()
    label = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    looks_alike = serializers.SerializerMethodField(
        help_text="Both look the same, but their characters differ: show them."
    )

    def get_looks_alike(self, field: FieldChange) -> bool:
        return looks_like(field.before, field.after)


class ObjectSerializer(ReadSerializer):
    """One object that is made, changed, deleted or acted upon."""

    kind = serializers.CharField(
        help_text="`create`, `change`, `delete`, `link` or `action`"
    )
    model = serializers.CharField()
    object_id = serializers.CharField(help_text="Empty if it does not exist yet.")
    text = serializers.CharField()
    fields = FieldSerializer(many=True)


class RelatedSerializer(ReadSerializer):
    """Objects that go along, as the cascade of a delete."""

    model = serializers.CharField()
    label = serializers.CharField()
    kind = serializers.CharField()
    count = serializers.IntegerField()
    texts = serializers.ListField(child=serializers.CharField())


class ProposalSerializer(ReadSerializer):
    """The true difference that a call would make, computed by the server."""

    title = serializers.CharField()
    verb = serializers.SerializerMethodField()
    model = serializers.CharField()
    total = serializers.IntegerField(
        help_text="How many there are; `objects` has the first."
    )
    objects = ObjectSerializer(many=True)
    related = RelatedSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
    undoable = serializers.BooleanField(help_text="But for `undo_limits`.")
    undo_limits = serializers.ListField(
        child=serializers.CharField(),
        help_text="Sentences: what of it could not be undone, and why.",
    )
    chooses_rows = serializers.SerializerMethodField(
        help_text="Some of `objects` may be approved alone: see `rows` of the answer."
    )

    def to_representation(self, instance: Any) -> Any:
        """Return what is stored as JSON; what lies behind the texts is left out."""
        changes = stored_changes(instance)
        return super().to_representation(changes) if changes else None

    def get_verb(self, changes: Changes) -> str:
        return changes.verb or changes.title

    def get_chooses_rows(self, changes: Changes) -> bool:
        return bool(changes.rows_argument)


class OptionSerializer(ReadSerializer):
    """One of the answers that a question offers."""

    id = serializers.CharField()
    label = serializers.CharField()
    description = serializers.CharField()


class QuestionSerializer(ReadSerializer):
    """What a tool asks."""

    text = serializers.CharField()
    kind = serializers.ChoiceField(Interrupt.QuestionKind.choices)
    options = OptionSerializer(many=True)
    strict = serializers.BooleanField(
        help_text="Only the options are accepted as answers."
    )
    default = serializers.JSONField()

    def to_representation(self, instance: Interrupt) -> Any:
        """Return the question of the row, if it has one."""
        if not (instance.question or instance.key):
            return None
        question = {"text": instance.question, "kind": kind_of(instance)}
        rules = {"strict": instance.strict, "default": instance.default}
        options = {"options": options_of(instance)}
        return super().to_representation({**question, **rules, **options})


class InterruptSerializer(ReadModelSerializer):
    """Why a call waits."""

    conversation = serializers.UUIDField(source="run.conversation_id")
    kind = serializers.ChoiceField(Interrupt.Kind.choices)
    nonce = serializers.SerializerMethodField(
        help_text="What an answer must include; only for an open approval or question, and "
        "for those who may answer."
    )
    tool = serializers.CharField(source="call.name")
    label = serializers.SerializerMethodField(method_name="get_title")
    effect = serializers.CharField(source="call.effect")
    arguments = serializers.DictField(source="call.arguments")
    because = serializers.CharField(
        source="call.asks_because", help_text="Why it has to be approved."
    )
    importance = serializers.SerializerMethodField()
    proposal = ProposalSerializer(allow_null=True)
    question = QuestionSerializer(source="*", allow_null=True)

    class Meta:
        model = Interrupt
        fields = (
            *("id", "run", "conversation", "call", "kind", "status", "nonce", "tool"),
            *("label", "effect", "arguments", "because", "importance", "proposal"),
            *("question", "answer", "created_at", "decided_at", "expires_at"),
        )

    def get_nonce(self, row: Interrupt) -> str | None:
        may_answer = caller_of(self.context["request"]).may_answer
        is_open = row.status == Interrupt.Status.OPEN
        is_visible = may_answer and is_open and row.kind in kind_names(for_person=True)
        return row.nonce if is_visible else None

    def get_title(self, row: Interrupt) -> str:
        return row.call.label or row.call.name

    def get_importance(self, row: Interrupt) -> str:
        tool = registry.tool(row.call.name)
        return (tool.display.importance or "") if tool else ""


# No control characters: one of the databases cannot store them all.
STORABLE = RegexValidator(r"^[^\x00-\x1f\x7f]*\Z")
# Which fields belong to which decision.
BELONGS = {
    "approve": {"rows"},
    "approve_for_run": {"rows"},
    "deny": {"reason"},
    "answer": {"answer", "chosen"},
    "skip": set(),
}


class AnswerBody(Body):
    """What a person says to a call that waits."""

    nonce = Text(
        min_length=1, max_length=64, help_text="The value that the interrupt has."
    )
    decision = serializers.ChoiceField(
        list(BELONGS),
        help_text="`approve`, `approve_for_run` (the same tool on the same model need "
        "not ask again in this run) or `deny` an approval; `answer` or `skip` a "
        "question.",
    )
    reason = Text(
        default="",
        allow_blank=True,
        max_length=ANSWER_CHARS,
        help_text="Of `deny`; it is told to the model.",
    )
    rows = serializers.ListField(
        child=Text(min_length=1, max_length=255, validators=[STORABLE]),
        default=None,
        allow_null=True,
        max_length=MOST_ROWS,
        help_text="Of `approve`: the `object_id` of the objects to approve.",
    )
    answer = Text(
        default="",
        allow_blank=True,
        max_length=ANSWER_CHARS,
        help_text="Of `answer`: a text, the id of an option, or `yes` or `no`.",
    )
    chosen = serializers.ListField(
        child=Text(allow_blank=True),
        default=list,
        max_length=Ask.MOST_OPTIONS,
        help_text="Of `answer`: the ids of options, if the question takes several.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse fields that the decision has no use for."""
        used = {name for name in ("reason", "answer", "chosen") if attrs[name]}
        used |= {"rows"} if attrs["rows"] is not None else set()
        if foreign := sorted(used - BELONGS[attrs["decision"]]):
            values = {"field": foreign[0], "decision": attrs["decision"]}
            sentence = _("“%(field)s” does not belong to “%(decision)s”")
            raise serializers.ValidationError(sentence % values)
        return attrs


class InterruptFilter(lists.FilterSet):
    open = lists.ConditionFilter(
        Q(status=Interrupt.Status.OPEN),
        help_text="Those that are open, or the others.",
    )
    kind = lists.ChoiceFilter(choices=Interrupt.Kind.choices)
    run = lists.UUIDFilter(
        method="of_run",
        help_text="Those of a run, and of the agents that it has asked.",
    )
    conversation = lists.UUIDFilter("run__conversation_id")

    def of_run(self, queryset: Any, _name: str, value: UUID) -> Any:
        """Return the interrupts of a run, and of those that work for it."""
        return queryset.filter(Q(run=value) | Q(run__root=value))


class InterruptViewSet(ListModelMixin, RetrieveModelMixin, ApiViewSet):
    """
    The interrupts of the own runs, the newest first: what they wait for.

    Show a person the whole `proposal` before they approve.
    """

    queryset = Interrupt.objects.none()
    serializer_class = InterruptSerializer
    filterset_class = InterruptFilter
    write_scope = Scope.APPROVE

    def get_queryset(self) -> Any:
        return interrupts(user_key(self.request))

    @operation(
        body=AnswerBody,
        answers={200: InterruptSerializer},
        problems=(
            *("not_found", "already_answered", "stale", "expired", "policy"),
            *("empty", "wrong_answer", "bad_decision", "no_rows", "not_for_run"),
            "binary",
        ),
        example={"nonce": "q9Yv…", "decision": "deny", "reason": "Not this customer."},
    )
    @action(detail=True, methods=["post"])
    def answer(self, request: Request, id: UUID) -> Response:
        """
        Approve, deny or answer.

        The first answer counts. What was approved is carried out only if it is still
        what was shown.
        """
        body = self.read_body()
        self.get_object()
        caller = caller_of(request)
        decision = Answer(
            user_id=caller.user.pk,
            interrupt_id=id,
            nonce=body["nonce"],
            decision="" if body["decision"] == "answer" else body["decision"],
            rows=None if body["rows"] is None else tuple(body["rows"]),
            text=_text(body["answer"] or body["reason"]),
            chosen=tuple(_text(option) for option in body["chosen"] if option.strip()),
            stamp=caller.stamp,
        )
        carry_out(answer(decision))
        return self.retrieve(request)


def _text(text: str) -> str:
    return clean_text(text, ANSWER_CHARS) if text.strip() else ""
