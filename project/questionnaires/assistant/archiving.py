from typing import Any

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import Ask, ModelRetry, RunContext, ToolFailed
from project.questionnaires.models import Questionnaire

KEY = "questionnaire"
MAX_OPTIONS = 8


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_questionnaire",
    label=_("Archive a questionnaire"),
    preview="transaction",
)
def archive_questionnaire(context: RunContext, title: str) -> dict[str, Any]:
    """
    Archive the questionnaire of this title, so that nobody is asked it any more.

    A part of the title will do: the user is asked which one is meant if several
    match.
    """
    matches = _matching(title)
    if not matches:
        raise ModelRetry(
            f"title {title!r} matches no questionnaire that could be archived. "
            "Call list_questionnaires to see their titles."
        )
    if KEY in context.answers:
        matches = _chosen(matches, str(context.answers[KEY]))
    if len(matches) > 1:
        raise Ask(
            f"{len(matches)} questionnaires match “{title}”. Which one is to be "
            "archived?",
            options=tuple(_option(one) for one in matches[:MAX_OPTIONS]),
            key=KEY,
        )
    questionnaire = matches[0]
    questionnaire.status = Questionnaire.Status.ARCHIVED
    questionnaire.save(update_fields=["status"])
    questionnaire.bump_revision()
    return {
        "id": questionnaire.pk,
        "title": questionnaire.title,
        "status": questionnaire.status,
        "revision": questionnaire.revision,
    }


def _matching(title: str) -> list[Questionnaire]:
    """Return those of this very title, else those whose title contains it."""
    usable = Questionnaire.objects.exclude(status=Questionnaire.Status.ARCHIVED)
    wanted = title.strip()
    if not wanted:
        return []
    same = list(usable.filter(title__iexact=wanted))
    return same or list(usable.filter(title__icontains=wanted))


def _option(questionnaire: Questionnaire) -> str:
    # Titles may repeat; with the id, an answer means one of them.
    return f"{questionnaire.title} (id {questionnaire.pk})"


def _chosen(matches: list[Questionnaire], answer: str) -> list[Questionnaire]:
    """Return the one that the person's answer means, or raise ToolFailed."""
    said = answer.strip().lower()
    for names in (_option, lambda one: one.title, lambda one: str(one.pk)):
        chosen = [one for one in matches if names(one).lower() == said]
        if len(chosen) == 1:
            return chosen
    raise ToolFailed(
        f"Answer {answer!r} names none of the {len(matches)} questionnaires. "
        "Nothing was archived.",
        suggestion="Ask the user for the exact title, then call again with it.",
    )
