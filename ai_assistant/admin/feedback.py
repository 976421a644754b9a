"""Ratings of answers, with reasons, and with what they are about for who may see that."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.lists.decorated import (
    NOTHING,
    ListedAdmin,
    in_brief,
    sees_texts,
)
from ai_assistant.models.conversation import Feedback
from ai_assistant.render.html.run_texts import answers_of, questions_of

WHOLE_CHARS = 10_000  # of a question or an answer on a page


class ReasonFilter(admin.SimpleListFilter):
    """One of the reasons that can be ticked below an answer."""

    title = _("reason")
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer each reason."""
        return [(str(value), str(label)) for value, label in Feedback.Reason.choices]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> QuerySet[Any] | None:
        """Return the rows with this reason."""
        if self.value() not in Feedback.Reason.values:
            return queryset
        # SQLite has no `contains` for JSON; the list holds nothing but these words.
        annotated: QuerySet[Any] = queryset.alias(
            reasons_text=Cast("reasons", TextField())
        )
        return annotated.filter(reasons_text__contains=f'"{self.value()}"')


@admin.register(Feedback)
class FeedbackAdmin(ListedAdmin):
    """Ratings of answers, with reasons, and with what they are about for who may."""

    list_filter = ("value", ReasonFilter, "created_at")
    list_select_related = ("user", "run")
    search_fields = ("text", "=run__id")
    user_field = "user"
    when_empty = _(
        "Nobody has rated an answer yet. Two buttons below each answer do that."
    )

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the columns; the texts only for who may see them."""
        texts = ("question", "answer") if sees_texts(request) else ()
        said = in_brief(self.opts.get_field("text"))
        own = ("value", "why", said, "user", "created_at", "run_link")
        return self.seen(request, (*texts, *own))

    def get_fields(self, request: HttpRequest, obj: Feedback | None = None) -> Any:
        """Return the same as fields of the page."""
        texts = ("question", "answer") if sees_texts(request) else ()
        own = ("value", "why", "text", *texts, "user", "created_at", "run_link")
        return self.seen(request, own)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Feedback | None = None
    ) -> Any:
        """Return those that are made here."""
        return ("why", "question", "answer", "run_link")

    def decorate(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add question and answer."""
        if sees_texts(request):
            keys = [row.run_id for row in rows]
            asked, said = questions_of(keys), answers_of(keys)
            for row in rows:
                row.asked, row.said = asked.get(row.run_id), said.get(row.run_id)

    @admin.display(description=_("reasons"))
    def why(self, feedback: Feedback) -> str:
        """Return the ticked reasons in words."""
        labels = dict(Feedback.Reason.choices)
        return ", ".join(str(labels.get(reason, reason)) for reason in feedback.reasons)

    @admin.display(description=_("question"))
    def question(self, feedback: Any) -> str:
        """Return what was asked."""
        if not hasattr(feedback, "asked"):  # on its page
            found = questions_of([feedback.run_id], length=WHOLE_CHARS)
            return found.get(feedback.run_id, NOTHING)
        return feedback.asked or NOTHING

    @admin.display(description=_("answer"))
    def answer(self, feedback: Any) -> str:
        """Return what was answered."""
        if not hasattr(feedback, "said"):
            found = answers_of([feedback.run_id], length=WHOLE_CHARS)
            return found.get(feedback.run_id, NOTHING)
        return feedback.said or NOTHING

    @admin.display(description=_("run"))
    def run_link(self, feedback: Feedback) -> SafeString:
        """Return a link to the run."""
        return self.link("run", feedback.run_id, gettext("Open"))
