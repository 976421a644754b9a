"""The questionnaire that the user has open, and the parts of it that calls name."""

from ai_assistant import ModelRetry, RunContext, ToolFailed
from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    ScoringVariable,
    Section,
)

# From the model of the page to the questionnaire.
ROOTS = {
    "questionnaire": "pk",
    "section": "sections",
    "question": "sections__questions",
}


def opened(context: RunContext) -> Questionnaire | None:
    """Return the questionnaire of the page, or None."""
    page = context.page
    root = ROOTS.get(page.model_name)
    if page.app_label != "questionnaires" or root is None:
        return None
    if not page.object_id.isdecimal():
        return None
    return Questionnaire.objects.filter(**{root: page.object_id}).first()


def to_read(context: RunContext) -> Questionnaire:
    """Return the questionnaire of the page. Raise ToolFailed if there is none."""
    found = opened(context)
    if found is None:
        raise ToolFailed(
            "No questionnaire is open on the page of the user.",
            suggestion="Ask the user to open the questionnaire that is meant.",
        )
    return found


def to_change(context: RunContext) -> Questionnaire:
    """Return the questionnaire of the page, locked. Raise ToolFailed if published."""
    found = Questionnaire.objects.select_for_update().get(pk=to_read(context).pk)
    if is_closed(found):
        raise ToolFailed(
            f"Questionnaire {found.title!r} is {found.status}, so it cannot be changed.",
            suggestion="Say that only drafts can be designed.",
        )
    return found


def is_closed(questionnaire: Questionnaire) -> bool:
    """Tell whether the questionnaire is past designing."""
    return questionnaire.status != Questionnaire.Status.DRAFT


def section_of(questionnaire: Questionnaire, section_id: int) -> Section:
    """Return a section of the questionnaire, or raise ModelRetry."""
    found = questionnaire.sections.filter(pk=section_id).first()
    if found is None:
        raise ModelRetry(
            f"Section {section_id!r} is not one of this questionnaire. "
            "Choose an id from its outline."
        )
    return found


def question_of(
    questionnaire: Questionnaire, question_id: int, section_id: int | None = None
) -> Question:
    """Return a question of the questionnaire and section, or raise ModelRetry."""
    questions = Question.objects.select_related("type", "section")
    found = questions.filter(
        section__questionnaire=questionnaire, pk=question_id
    ).first()
    if found is None:
        raise ModelRetry(
            f"Question {question_id!r} is not one of this questionnaire. "
            "Choose an id from its outline."
        )
    if section_id is not None and found.section_id != section_id:
        raise ModelRetry(
            f"Question {question_id!r} is in section {found.section_id!r}, not in "
            f"{section_id!r}. Call again with its own section."
        )
    return found


def type_of(slug: str) -> QuestionType:
    """Return the question type, or raise ModelRetry."""
    found = QuestionType.objects.filter(slug=slug).first()
    if found is None:
        known = ", ".join(QuestionType.objects.values_list("slug", flat=True))
        raise ModelRetry(
            f"Question type {slug!r} does not exist. Choose one of: {known}."
        )
    return found


def variable_of(questionnaire: Questionnaire, variable_id: int) -> ScoringVariable:
    """Return a variable of the questionnaire, or raise ModelRetry."""
    found = questionnaire.variables.filter(pk=variable_id).first()
    if found is None:
        raise ModelRetry(
            f"Variable {variable_id!r} is not one of this questionnaire. "
            "Choose an id from its outline."
        )
    return found
