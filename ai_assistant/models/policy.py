from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField
from ai_assistant.models.patterns import pattern_error


class PolicyRule(models.Model):
    """
    What the site says of some tools: deny, ask or allow.

    `tools` is a pattern that the whole name has to fit; see `models.patterns`. Empty
    `module` and no `group` mean all. Deny goes before ask, and that before allow.
    Saving one that is wrong raises ValidationError.
    """

    class Decision(models.TextChoices):
        DENY = "deny", _("deny (never)")
        ASK = "ask", _("ask (first)")
        ALLOW = "allow", _("allow (without asking)")

    tools = models.CharField(_("tools"), max_length=200)
    module = models.CharField(_("module"), max_length=100, blank=True)
    group = models.ForeignKey(
        Group, null=True, blank=True, on_delete=models.CASCADE, verbose_name=_("group")
    )
    decision = models.CharField(_("decision"), max_length=8, choices=Decision)
    reason = models.CharField(_("reason"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("policy rule")
        verbose_name_plural = _("policy rules")

    def __str__(self) -> str:
        return f"{self.tools}: {self.decision}"

    def save(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as Django's
        """Save a rule that is right."""
        self.full_clean()
        super().save(*args, **options)

    def clean(self) -> None:
        """Refuse a pattern that no tool can be compared with."""
        if error := pattern_error(self.tools):
            sentence = gettext("Pattern “%(tools)s” %(error)s. Write a simpler one.")
            shown = {"tools": self.tools, "error": error}
            raise ValidationError({"tools": sentence % shown})


class Grant(models.Model):
    """A person's word that a tool need not ask again, on one model, in one run."""

    run = models.ForeignKey(
        "ai_assistant.Run", on_delete=models.CASCADE, related_name="grants"
    )
    tool = models.CharField(max_length=200)
    model = models.CharField(max_length=200, blank=True)  # app.model, if it has one
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    created_at = DatabaseTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("allowance")
        verbose_name_plural = _("allowances")
        constraints = (
            models.UniqueConstraint(
                fields=["run", "tool", "model"], name="aia_grant_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} {self.model}"
