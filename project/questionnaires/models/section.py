import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.questionnaire import Questionnaire


class Section(models.Model):
    """A page of a questionnaire."""

    uuid = models.UUIDField("UUID", default=uuid.uuid4, unique=True, editable=False)
    questionnaire = models.ForeignKey(
        Questionnaire,
        on_delete=models.CASCADE,
        related_name="sections",
        verbose_name=_("questionnaire"),
    )
    title = models.CharField(_("title"), max_length=200)
    position = models.PositiveIntegerField(
        _("position"),
        blank=True,
        help_text=_("Counted from 0. Empty puts the section last."),
    )

    class Meta:
        verbose_name = _("section")
        verbose_name_plural = _("sections")
        ordering = ("questionnaire", "position", "pk")
        constraints = (
            # Deferred, so that two sections can change places in one transaction.
            # SQLite has no deferred unique constraints: there, only forms check it.
            models.UniqueConstraint(
                fields=("questionnaire", "position"),
                name="section_position_unique",
                deferrable=models.Deferrable.DEFERRED,
                violation_error_message=_(
                    "Another section of the questionnaire has this position."
                ),
            ),
        )

    def __str__(self) -> str:
        return self.title

    def save(self, *args: object, **kwargs: object) -> None:
        """Save the section, at the end if it has no position."""
        if self.position is None:
            last = Section.objects.filter(questionnaire=self.questionnaire_id)
            highest = last.aggregate(highest=models.Max("position"))["highest"]
            self.position = 0 if highest is None else highest + 1
        super().save(*args, **kwargs)
