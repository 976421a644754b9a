"""
What happens around a question: conditions and actions, and what they refer to.

A condition is a tree: `{"all": [...]}`, `{"any": [...]}`, `{"not": {...}}`, or a
comparison `{"question": NAME, "is": OPERATOR, "value": ...}` (also of a
`variable`). Empty is always. An action is `{"do": VERB, ...}`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from project.questionnaires.models import (
    Question,
    QuestionActionGroup,
    Questionnaire,
    ScoringVariable,
)
from project.questionnaires.models.scoring_variable import fits

Kind = Literal["question", "variable", "section"]
OPERATORS = ("equals", "differs", "less", "more", "contains", "answered")
# verb -> what it refers to, if anything
VERBS: dict[str, Kind | None] = {
    "set_variable": "variable",
    "show_question": "question",
    "hide_question": "question",
    "go_to_section": "section",
    "end": None,
}
MAX_DEPTH = 5
MAX_ACTIONS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What conditions and actions of a questionnaire may refer to."""

    question: set[str] = field(default_factory=set)
    section: set[int] = field(default_factory=set)
    variable: dict[str, str] = field(default_factory=dict)  # name -> type


def known_in(questionnaire: Questionnaire) -> Known:
    """Return the names and ids that there are in a questionnaire."""
    questions = Question.objects.filter(section__questionnaire=questionnaire)
    variables = ScoringVariable.objects.filter(questionnaire=questionnaire)
    return Known(
        question=set(questions.exclude(name="").values_list("name", flat=True)),
        section=set(questionnaire.sections.values_list("pk", flat=True)),
        variable=dict(variables.values_list("name", "type")),
    )


def condition_error(tree: Any, known: Known, depth: int = 0) -> str:
    """Return what is wrong with a condition; nothing if it can be evaluated."""
    if not isinstance(tree, dict):
        return f"A condition is an object, not {tree!r}."
    if not tree:
        return "" if depth == 0 else "A condition within another one is empty."
    if depth > MAX_DEPTH:
        return f"The condition is nested more than {MAX_DEPTH} deep."
    branches = _branches(tree)
    if branches is None:
        return _comparison_error(tree, known)
    errors = (condition_error(branch, known, depth + 1) for branch in branches)
    return next((error for error in errors if error), "")


def action_error(action: Any, known: Known) -> str:
    """Return what is wrong with an action; nothing if it can be carried out."""
    verb = action.get("do") if isinstance(action, dict) else None
    if not isinstance(verb, str) or verb not in VERBS:
        return f"Action {action!r} has no known `do`. Use one of: {', '.join(VERBS)}."
    kind = VERBS[verb]
    if kind is None:
        return ""
    if error := _reference_error(kind, action.get(kind), known):
        return error
    if kind == "variable" and not fits(
        action.get("value"), known.variable[action[kind]]
    ):
        return (
            f"Value {action.get('value')!r} is no {known.variable[action[kind]]}, "
            f"which variable {action[kind]!r} is."
        )
    return ""


def users_of(questionnaire: Questionnaire, kind: Kind, name: object) -> list[str]:
    """Return the questions whose conditions or actions refer to this part."""
    groups = QuestionActionGroup.objects.filter(
        question__section__questionnaire=questionnaire
    ).select_related("question")
    using = (
        group.question.name or group.question.text
        for group in groups
        if (kind, name) in list(_references(group))
    )
    return list(dict.fromkeys(using))


def _branches(tree: dict[str, Any]) -> list[Any] | None:
    """Return the parts of a combined condition, None for a comparison."""
    if len(tree) != 1:
        return None
    for word in ("all", "any"):
        if isinstance(tree.get(word), list):
            return list(tree[word])
    return [tree["not"]] if "not" in tree else None


def _comparison_error(tree: dict[str, Any], known: Known) -> str:
    kinds: list[Kind] = [kind for kind in ("question", "variable") if kind in tree]
    if len(kinds) != 1 or set(tree) - {kinds[0], "is", "value"}:
        return (
            f"Condition {tree!r} is neither all, any, not, nor a comparison with one "
            "`question` or `variable`, `is` and `value`."
        )
    if tree.get("is") not in OPERATORS:
        return (
            f"Operator {tree.get('is')!r} is unknown. Use one of: "
            f"{', '.join(OPERATORS)}."
        )
    return _reference_error(kinds[0], tree[kinds[0]], known)


def _reference_error(kind: Kind, name: Any, known: Known) -> str:
    is_key = isinstance(name, (str, int)) and not isinstance(name, bool)
    if is_key and name in getattr(known, kind):
        return ""
    return f"There is no {kind} {name!r} in this questionnaire."


def _references(group: QuestionActionGroup) -> Iterator[tuple[str, Any]]:
    yield from _of_condition(group.condition)
    for action in group.actions:
        if isinstance(action, dict) and (kind := VERBS.get(str(action.get("do")))):
            yield kind, action.get(kind)


def _of_condition(tree: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(tree, dict):
        return
    for branch in _branches(tree) or ():
        yield from _of_condition(branch)
    for kind in ("question", "variable"):
        if isinstance(tree.get(kind), str):
            yield kind, tree[kind]
