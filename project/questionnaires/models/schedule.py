import uuid

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.questionnaire import Questionnaire
from project.questionnaires.validators import validate_time_zone


class Schedule(models.Model):
    """When people are asked: an anchor, an offset from it, and repetitions."""

    class Anchor(models.TextChoices):
        ENROLMENT = "enrolment", _("enrolment")
        FIXED_DATE = "fixed_date", _("fixed date")
        EVENT = "event", _("event")

    uuid = models.UUIDField("UUID", default=uuid.uuid4, unique=True, editable=False)
    questionnaire = models.ForeignKey(
        Questionnaire,
        on_delete=models.CASCADE,
        related_name="schedules",
        verbose_name=_("questionnaire"),
    )
    name = models.CharField(_("name"), max_length=100)
    anchor = models.CharField(
        _("anchor"), max_length=10, choices=Anchor, default=Anchor.ENROLMENT
    )
    anchor_date = models.DateField(_("date of the anchor"), null=True, blank=True)
    anchor_event = models.CharField(_("event"), max_length=100, blank=True)
    offset_days = models.IntegerField(
        _("offset in days"), default=0, help_text=_("Negative is before the anchor.")
    )
    repeat_every_days = models.PositiveIntegerField(
        _("repeat every (days)"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
    )
    repeat_count = models.PositiveIntegerField(
        _("number of times"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    repeat_until = models.DateField(_("repeat until"), null=True, blank=True)
    window_before_h = models.PositiveIntegerField(_("opens (hours before)"), default=0)
    window_after_h = models.PositiveIntegerField(_("closes (hours after)"), default=24)
    time_zone = models.CharField(
        _("time zone"), max_length=60, default="UTC", validators=[validate_time_zone]
    )
    active = models.BooleanField(_("active"), default=True)

    class Meta:
        verbose_name = _("schedule")
        verbose_name_plural = _("schedules")
        ordering = ("questionnaire", "name", "pk")
        constraints = (
            models.CheckConstraint(
                name="schedule_ends_one_way",
                condition=Q(repeat_count__isnull=True) | Q(repeat_until__isnull=True),
                violation_error_message=_(
                    "Give a number of times or an end date, not both."
                ),
            ),
        )

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Ask for what the anchor and the repetition need."""
        if self.anchor == self.Anchor.FIXED_DATE and self.anchor_date is None:
            raise ValidationError({"anchor_date": _("Enter the date of the anchor.")})
        if self.anchor == self.Anchor.EVENT and not self.anchor_event:
            raise ValidationError({"anchor_event": _("Enter the name of the event.")})
        ends = self.repeat_count is not None or self.repeat_until is not None
        if ends and self.repeat_every_days is None:
            raise ValidationError(
                {"repeat_every_days": _("Enter how many days lie in between.")}
            )
