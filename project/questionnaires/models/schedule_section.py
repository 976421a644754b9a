from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.schedule import Schedule
from project.questionnaires.models.section import Section


class ScheduleSection(models.Model):
    """A section that a schedule asks; without any, it asks all of them."""

    schedule = models.ForeignKey(
        Schedule,
        on_delete=models.CASCADE,
        related_name="schedule_sections",
        verbose_name=_("schedule"),
    )
    section = models.ForeignKey(
        Section,
        on_delete=models.CASCADE,
        related_name="schedule_sections",
        verbose_name=_("section"),
    )
    position = models.PositiveIntegerField(_("position"), default=0)

    class Meta:
        verbose_name = _("section of a schedule")
        verbose_name_plural = _("sections of a schedule")
        ordering = ("schedule", "position", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("schedule", "section"), name="section_once_a_schedule"
            ),
        )

    def __str__(self) -> str:
        return str(self.section)

    def clean(self) -> None:
        """Refuse a section of another questionnaire."""
        schedule = Schedule.objects.filter(pk=self.schedule_id).first()
        section = Section.objects.filter(pk=self.section_id).first()
        if schedule is None or section is None:
            return
        if schedule.questionnaire_id != section.questionnaire_id:
            raise ValidationError(
                {"section": _("This section is of another questionnaire.")}
            )
