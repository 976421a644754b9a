import uuid

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.question_type import QuestionType
from project.questionnaires.models.section import Section
from project.questionnaires.validators import validate_json_object, validate_name


class Question(models.Model):
    """One thing that is asked, at its place in a section."""

    uuid = models.UUIDField("UUID", default=uuid.uuid4, unique=True, editable=False)
    section = models.ForeignKey(
        Section,
        on_delete=models.CASCADE,
        related_name="questions",
        verbose_name=_("section"),
    )
    type = models.ForeignKey(
        QuestionType,
        on_delete=models.PROTECT,
        related_name="questions",
        verbose_name=_("type"),
    )
    name = models.CharField(
        _("name"),
        max_length=60,
        blank=True,
        validators=[validate_name],
        help_text=_("For exports and conditions. Unique in the questionnaire."),
    )
    text = models.CharField(_("text"), max_length=500)
    description = models.TextField(_("description"), blank=True)
    config = models.JSONField(
        _("configuration"), default=dict, blank=True, validators=[validate_json_object]
    )
    position = models.PositiveIntegerField(
        _("position"),
        blank=True,
        help_text=_("Counted from 0. Empty puts the question last."),
    )

    class Meta:
        verbose_name = _("question")
        verbose_name_plural = _("questions")
        ordering = ("section", "position", "pk")

    def __str__(self) -> str:
        return self.text

    def save(self, *args: object, **kwargs: object) -> None:
        """Save the question, at the end if it has no position."""
        if self.position is None:
            last = Question.objects.filter(section=self.section_id)
            highest = last.aggregate(highest=models.Max("position"))["highest"]
            self.position = 0 if highest is None else highest + 1
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Refuse a name that another question of the questionnaire has."""
        section = Section.objects.filter(pk=self.section_id).first()
        if not self.name or section is None:
            return
        same = Question.objects.filter(
            section__questionnaire=section.questionnaire_id, name=self.name
        )
        if same.exclude(pk=self.pk).exists():
            raise ValidationError(
                {"name": _("Another question of the questionnaire has this name.")}
            )
