from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.validators import validate_json_object


class QuestionType(models.Model):
    """How a question is answered: a text, a number, a choice, a scale."""

    slug = models.SlugField(_("slug"), unique=True)
    label = models.CharField(_("label"), max_length=100)
    config_schema = models.JSONField(
        _("configuration schema"),
        default=dict,
        blank=True,
        validators=[validate_json_object],
        help_text=_("JSON Schema of the configuration of such a question."),
    )
    default_config = models.JSONField(
        _("default configuration"),
        default=dict,
        blank=True,
        validators=[validate_json_object],
    )
    example_config = models.JSONField(
        _("example of a configuration"),
        default=dict,
        blank=True,
        validators=[validate_json_object],
    )

    class Meta:
        verbose_name = _("question type")
        verbose_name_plural = _("question types")
        ordering = ("label",)

    def __str__(self) -> str:
        return self.label
