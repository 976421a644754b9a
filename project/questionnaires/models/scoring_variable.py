import datetime
import uuid
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.questionnaire import Questionnaire
from project.questionnaires.validators import validate_name


class ScoringVariable(models.Model):
    """A value that actions set and conditions look at while people answer."""

    class Type(models.TextChoices):
        NUMBER = "number", _("number")
        TEXT = "text", _("text")
        BOOLEAN = "boolean", _("yes or no")
        DATE = "date", _("date")

    uuid = models.UUIDField("UUID", default=uuid.uuid4, unique=True, editable=False)
    questionnaire = models.ForeignKey(
        Questionnaire,
        on_delete=models.CASCADE,
        related_name="variables",
        verbose_name=_("questionnaire"),
    )
    name = models.CharField(_("name"), max_length=60, validators=[validate_name])
    label = models.CharField(_("label"), max_length=200)
    type = models.CharField(_("type"), max_length=10, choices=Type, default=Type.NUMBER)
    default = models.JSONField(_("default value"), null=True, blank=True)

    class Meta:
        verbose_name = _("variable")
        verbose_name_plural = _("variables")
        ordering = ("questionnaire", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("questionnaire", "name"),
                name="one_variable_a_name",
                violation_error_message=_(
                    "Another variable of the questionnaire has this name."
                ),
            ),
        )

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse a default value of another type."""
        if self.default is not None and not fits(self.default, self.type):
            raise ValidationError(
                {"default": _("Enter a value of the type of the variable.")}
            )


def fits(value: Any, variable_type: str) -> bool:
    """Tell whether `value`, as JSON has it, is of the type."""
    if variable_type == ScoringVariable.Type.BOOLEAN:
        return isinstance(value, bool)
    if variable_type == ScoringVariable.Type.NUMBER:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if variable_type == ScoringVariable.Type.DATE:
        return _is_date(value)
    return isinstance(value, str)


def _is_date(value: Any) -> bool:
    try:
        datetime.date.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True
