from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.question import Question
from project.questionnaires.validators import validate_language


class QuestionTranslation(models.Model):
    """A question in another language."""

    question = models.ForeignKey(
        Question,
        on_delete=models.CASCADE,
        related_name="translations",
        verbose_name=_("question"),
    )
    language = models.CharField(
        _("language"), max_length=6, validators=[validate_language]
    )
    text = models.CharField(_("text"), max_length=500)
    description = models.TextField(_("description"), blank=True)

    class Meta:
        verbose_name = _("translation")
        verbose_name_plural = _("translations")
        ordering = ("question", "language")
        constraints = (
            models.UniqueConstraint(
                fields=("question", "language"), name="one_translation_a_language"
            ),
        )

    def __str__(self) -> str:
        return f"{self.language}: {self.text}"
