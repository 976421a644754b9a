from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField
from ai_assistant.models.configuration import ImportedRow

VIEW_USAGE = "ai_assistant.view_usage"  # the permission to see tokens and costs


class UsageLedger(models.Model):
    """
    One model call: what was reserved for it, and what it took.

    `tokens` and `usd` are what counts against budgets: the estimate while the call
    is under way, then what it took, and nothing once it is given back. The row
    outlives its run and its user. A call for suggestions has no run.
    """

    class State(models.TextChoices):
        RESERVED = "reserved", _("reserved")
        SETTLED = "settled", _("settled")
        RELEASED = "released", _("released")

    run = models.ForeignKey(
        "ai_assistant.Run",
        null=True,
        on_delete=models.SET_NULL,
        related_name="usage",
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name=_("user"),
        db_index=False,
    )
    step_index = models.PositiveIntegerField(_("step"), default=0)
    epoch = models.PositiveIntegerField(default=0)  # a call repeated after a crash
    profile = models.CharField(_("profile"), max_length=100, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    state = models.CharField(
        _("state"), max_length=16, choices=State, default=State.RESERVED
    )
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    usd = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    input_tokens = models.PositiveIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveIntegerField(_("output tokens"), default=0)
    cached_tokens = models.PositiveIntegerField(_("cached tokens"), default=0)
    reasoning_tokens = models.PositiveIntegerField(_("reasoning tokens"), default=0)
    cost_usd = models.DecimalField(
        _("cost in USD"), max_digits=14, decimal_places=8, null=True, blank=True
    )  # None: no price is known
    # Digests of the texts that it suggested: whoever sends one has not typed it.
    suggested = models.JSONField(default=list, blank=True)
    created_at = DatabaseTimeField(_("time"), auto_now_add=True)
    settled_at = models.DateTimeField(_("settled"), null=True, blank=True)

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("usage")
        ordering = ("-created_at",)
        default_permissions = ()
        permissions = (("view_usage", _("Can see usage and costs")),)
        # The sums of a window are read from the index alone.
        indexes = (
            models.Index(fields=["created_at", "tokens", "usd"], name="aia_usage_time"),
            models.Index(
                fields=["user", "created_at", "tokens", "usd"], name="aia_usage_user"
            ),
            models.Index(
                fields=["run"],
                condition=models.Q(state="reserved"),
                name="aia_usage_open",
            ),
        )

    def __str__(self) -> str:
        return f"{self.model} {self.input_tokens}+{self.output_tokens}"


class DailyUsage(models.Model):
    """
    What was used on a day, by everything that a report asks for.

    Without a `tool` it sums model calls. With one it sums calls of that tool, and tokens
    and cost are its share of the model calls that asked for it. Written when the day is
    over, and never changed; see `ai_assistant.engine.accounting.daily`.
    """

    day = models.DateField(_("day"))  # in the TIME_ZONE of the site
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name=_("user"),
    )
    model = models.CharField(_("model"), max_length=200, blank=True)
    module = models.CharField(_("module"), max_length=100, blank=True)
    agent = models.CharField(_("agent"), max_length=64, blank=True)
    tool = models.CharField(_("tool"), max_length=200, blank=True)
    calls = models.PositiveIntegerField(_("calls"), default=0)
    failed = models.PositiveIntegerField(_("failed"), default=0)  # of a tool
    unpriced = models.PositiveIntegerField(default=0)  # of which no price is known
    input_tokens = models.PositiveBigIntegerField(_("input tokens"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output tokens"), default=0)
    cost_usd = models.DecimalField(
        _("cost in USD"), max_digits=18, decimal_places=8, default=0
    )
    timed = models.PositiveIntegerField(default=0)  # calls of which the time is known
    seconds = models.FloatField(default=0)  # of these
    longest_s = models.FloatField(default=0)

    class Meta:
        verbose_name = _("usage of a day")
        verbose_name_plural = _("usage by day")
        default_permissions = ()
        indexes = (models.Index(fields=["day", "tool"], name="aia_daily_day"),)

    def __str__(self) -> str:
        return f"{self.day} {self.tool or self.model}"


class SummedDay(models.Model):
    """The last day whose sums are written; one row, none before the first."""

    day = models.DateField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.day)


class Report(DailyUsage):
    """What the reports in the admin are registered by; no table of its own."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("report")
        verbose_name_plural = _("reports")


class Budget(ImportedRow):
    """A limit on tokens or money, for some users, in a window of time."""

    class Scope(models.TextChoices):
        SITE = "site", _("the whole site")
        GROUP = "group", _("a group, together")
        USER = "user", _("each user")
        RUN = "run", _("each answer")

    class Window(models.TextChoices):
        MINUTE = "minute", _("a minute")
        DAY = "day", _("a day")
        MONTH = "month", _("a month")
        RUN = "run", _("one answer")

    scope = models.CharField(_("whose budget"), max_length=8, choices=Scope)
    group = models.ForeignKey(
        Group, null=True, blank=True, on_delete=models.CASCADE, verbose_name=_("group")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("only this user"),
    )
    window = models.CharField(_("period"), max_length=8, choices=Window)
    tokens = models.PositiveBigIntegerField(_("tokens"), null=True, blank=True)
    usd = models.DecimalField(
        _("US dollars"), max_digits=12, decimal_places=4, null=True, blank=True
    )

    module = ""  # of whose limits it is; of a stored one, none

    class Meta:
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")

    def __str__(self) -> str:
        return f"{self.get_scope_display()}, {self.get_window_display()}"

    def clean(self) -> None:
        """Reject a budget that would limit nothing, or whose use cannot be measured."""
        if self.scope not in Budget.Scope or self.window not in Budget.Window:
            return  # these fields say it themselves
        if problem := budget_problem(self.as_setting()):
            raise ValidationError(problem)

    def as_setting(self) -> dict[str, Any]:
        """Return the budget as AI_ASSISTANT['BUDGETS'] would have it."""
        fields: dict[str, Any] = {"scope": self.scope, "window": self.window}
        optional = {
            "tokens": self.tokens,
            "usd": self.usd,
            "group": self.group.name if self.group else None,
            "user": self.user.get_username() if self.user else None,
        }
        return fields | {
            name: value for name, value in optional.items() if value is not None
        }


def budget_problem(budget: Mapping[str, Any]) -> str:
    """Return why a budget is invalid, as a sentence; empty if it is valid."""
    scope, window = budget.get("scope"), budget.get("window")
    if scope not in Budget.Scope or window not in Budget.Window:
        return gettext("A budget needs a valid scope and a valid window.")
    if (scope == Budget.Scope.RUN) != (window == Budget.Window.RUN):
        return gettext("The scope and the window of an answer only go together.")
    if (scope == Budget.Scope.GROUP) != bool(budget.get("group")):
        return gettext("Name a group for the budget of a group, and for no other.")
    if budget.get("user") and scope != Budget.Scope.USER:
        return gettext("Only a budget of users can be for one user.")
    amounts = [budget[name] for name in ("tokens", "usd") if name in budget]
    if not amounts or any(not _is_amount(amount) for amount in amounts):
        return gettext("Give tokens, US dollars or both, above 0.")
    return ""


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return value > 0
