from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.checking import check
from project.questionnaires.assistant.designer.opened import to_change, variable_of
from project.questionnaires.flow import users_of
from project.questionnaires.models import Questionnaire, ScoringVariable

VariableType = Literal["number", "text", "boolean", "date"]
Value = str | int | float | bool | None
MAX_VARIABLES = 50


class NewVariable(BaseModel):
    """One of several variables to create."""

    model_config = ConfigDict(extra="forbid")

    name: str
    label: str
    type: VariableType
    default_value: Value = None


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_scoringvariable",
    label=_("Create a variable"),
    preview="transaction",
)
def create_variable(
    context: RunContext,
    name: str,
    label: str,
    type: VariableType,  # noqa: A002 - the word that the model is told
    default_value: Value = None,
) -> dict[str, Any]:
    """
    Create one variable, which actions can set and conditions can look at.

    name: lower-case letters, digits and underscores.
    """
    questionnaire = to_change(context)
    new = NewVariable(name=name, label=label, type=type, default_value=default_value)
    variable = _created(questionnaire, new)
    questionnaire.bump_revision()
    return _told(variable)


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_scoringvariable",
    label=_("Create variables"),
    preview="transaction",
)
def create_variables(
    context: RunContext, variables: list[NewVariable]
) -> dict[str, Any]:
    """Create several variables: all of them, or none if one is wrong."""
    questionnaire = to_change(context)
    if not 0 < len(variables) <= MAX_VARIABLES:
        raise ModelRetry(
            f"{len(variables)} variables cannot be created at once. "
            f"Call again with 1 to {MAX_VARIABLES}."
        )
    made = [
        _created(questionnaire, new, where=f"variables[{index}]: ")
        for index, new in enumerate(variables)
    ]
    questionnaire.bump_revision()
    return {"created": [_told(variable) for variable in made]}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_scoringvariable",
    label=_("Change a variable"),
    preview="transaction",
)
def update_variable(
    context: RunContext,
    variable_id: int,
    name: str | None = None,
    label: str | None = None,
    type: VariableType | None = None,  # noqa: A002
    default_value: Value = None,
) -> dict[str, Any]:
    """
    Change one variable; what is left out stays as it is.

    Its name and type cannot be changed while conditions or actions refer to it.
    """
    questionnaire = to_change(context)
    variable = variable_of(questionnaire, variable_id)
    if (name or variable.name, type or variable.type) != (
        variable.name,
        variable.type,
    ):
        _refuse_if_used(questionnaire, variable, "changed")
    variable.name = variable.name if name is None else name
    variable.label = variable.label if label is None else label
    variable.type = type or variable.type
    if default_value is not None:
        variable.default = default_value
    check(variable)
    variable.save()
    questionnaire.bump_revision()
    return _told(variable)


@ai_assistant.tool(
    effect="destructive",
    permission="questionnaires.delete_scoringvariable",
    label=_("Delete a variable"),
    preview="transaction",
)
def delete_variable(context: RunContext, variable_id: int) -> dict[str, Any]:
    """Delete one variable. It is refused while conditions or actions refer to it."""
    questionnaire = to_change(context)
    variable = variable_of(questionnaire, variable_id)
    _refuse_if_used(questionnaire, variable, "deleted")
    told = _told(variable)
    variable.delete()
    questionnaire.bump_revision()
    return {"deleted": told}


def _created(
    questionnaire: Questionnaire, new: NewVariable, *, where: str = ""
) -> ScoringVariable:
    variable = ScoringVariable(
        questionnaire=questionnaire,
        name=new.name,
        label=new.label,
        type=new.type,
        default=new.default_value,
    )
    check(variable, where=where)
    variable.save()
    return variable


def _refuse_if_used(
    questionnaire: Questionnaire, variable: ScoringVariable, verb: str
) -> None:
    if users := users_of(questionnaire, "variable", variable.name):
        raise ModelRetry(
            f"Variable {variable.name!r} cannot be {verb}: conditions or actions of "
            f"{', '.join(users)} refer to it. Call set_question_actions there first."
        )


def _told(variable: ScoringVariable) -> dict[str, Any]:
    return {
        "variable_id": variable.pk,
        "name": variable.name,
        "label": variable.label,
        "type": variable.type,
        "default_value": variable.default,
    }
