from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.question import Question
from project.questionnaires.validators import validate_json_object, validate_language


class ConfigOverride(models.Model):
    """The configuration of a question in one language, instead of its own."""

    question = models.ForeignKey(
        Question,
        on_delete=models.CASCADE,
        related_name="overrides",
        verbose_name=_("question"),
    )
    language = models.CharField(
        _("language"), max_length=6, validators=[validate_language]
    )
    config = models.JSONField(
        _("configuration"), default=dict, blank=True, validators=[validate_json_object]
    )

    class Meta:
        verbose_name = _("configuration in a language")
        verbose_name_plural = _("configurations in a language")
        ordering = ("question", "language")
        constraints = (
            models.UniqueConstraint(
                fields=("question", "language"), name="one_override_a_language"
            ),
        )

    def __str__(self) -> str:
        return f"{self.question} ({self.language})"
