from django.db import models
from django.utils.translation import gettext_lazy as _

from project.questionnaires.models.question import Question
from project.questionnaires.validators import validate_json_list, validate_json_object


class QuestionActionGroup(models.Model):
    """What happens when a question is shown or answered, if a condition holds."""

    class Trigger(models.TextChoices):
        ON_ENTER = "on_enter", _("when it is shown")
        ON_ANSWER = "on_answer", _("when it is answered")

    question = models.ForeignKey(
        Question,
        on_delete=models.CASCADE,
        related_name="action_groups",
        verbose_name=_("question"),
    )
    trigger = models.CharField(
        _("trigger"), max_length=10, choices=Trigger, default=Trigger.ON_ANSWER
    )
    position = models.PositiveIntegerField(_("position"), default=0)
    condition = models.JSONField(
        _("condition"),
        default=dict,
        blank=True,
        validators=[validate_json_object],
        help_text=_("An expression tree. Empty is always."),
    )
    actions = models.JSONField(
        _("actions"), default=list, validators=[validate_json_list]
    )

    class Meta:
        verbose_name = _("group of actions")
        verbose_name_plural = _("groups of actions")
        ordering = ("question", "trigger", "position", "pk")

    def __str__(self) -> str:
        return f"{self.get_trigger_display()} {self.position}"
