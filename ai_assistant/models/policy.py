"""
Patterns that name tools: a small part of regular expressions.

It is restricted so that no pattern is slow, whatever it is matched against.
"""

import re
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField
from ai_assistant.models.configuration import ImportedRow

MAX_CHARS = 200
MOST_CHOICES = 3  # repeats and groups that one alternative may have
ALLOWED = (
    "letters, digits, '_', '-', '.', '[...]', '\\w', '\\d', '|', '(...)', and '*', "
    "'+' or '?' behind one character"
)
TOKEN = re.compile(
    r"(?P<one>\\[wd._-]|\[\^?(?:[\w.]|(?<=\w)-(?=\w))+\]|[A-Za-z0-9_.-])"
    r"|(?P<repeat>[*+?])|(?P<or>\|)|(?P<open>\()|(?P<close>\))",
    re.ASCII,
)


@lru_cache(maxsize=1024)
def pattern_error(pattern: str) -> str:
    """Return what is wrong with `pattern`, as the end of a sentence; empty if it is good."""
    if len(pattern) > MAX_CHARS:
        return f"is longer than {MAX_CHARS} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression: {error}"
    tokens = _tokens(pattern)
    if tokens is None:
        return f"contains more than a pattern may: {ALLOWED}"
    return _slow(tokens)


@lru_cache(maxsize=4096)
def fits(pattern: str, name: str) -> bool:
    """Return whether the whole of `name` fits a pattern that has no error."""
    return re.fullmatch(pattern, name, re.ASCII) is not None


def _tokens(pattern: str) -> list[str] | None:
    """Return the kinds of the tokens of a pattern that compiles; None if one is unknown."""
    kinds: list[str] = []
    at = 0
    while at < len(pattern):
        match = TOKEN.match(pattern, at)
        if match is None:
            return None
        kinds.append(str(match.lastgroup))
        at = match.end()
    return kinds


def _slow(tokens: list[str]) -> str:
    """Return why trying the pattern may take long, if it may."""
    choices = depth = 0
    last = ""
    for kind in tokens:
        if kind == "repeat" and last != "one":
            return "repeats more than one character, which may be very slow"
        if kind == "or" and depth == 0:
            choices = 0  # each alternative is tried for itself
        depth += {"open": 1, "close": -1}.get(kind, 0)
        choices += kind in ("repeat", "open")
        if choices > MOST_CHOICES:
            return f"has more than {MOST_CHOICES} repeats and groups: it may be slow"
        last = kind
    return ""


class PolicyRule(ImportedRow):
    """
    A policy of the site for some tools: deny, ask or allow.

    `tools` is a pattern that the whole name has to fit; see `pattern_error`. Empty
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

    def save(self, *args: Any, **options: Any) -> None:
        """Validate and save the rule."""
        self.full_clean()
        super().save(*args, **options)

    def clean(self) -> None:
        """Reject a pattern that is not valid, or slow to match."""
        if error := pattern_error(self.tools):
            sentence = gettext("Pattern “%(tools)s” %(error)s. Write a simpler one.")
            values = {"tools": self.tools, "error": error}
            raise ValidationError({"tools": sentence % values})


class Grant(models.Model):
    """A person's approval of a tool for one model, for the rest of a run."""

    run = models.ForeignKey(
        "ai_assistant.Run",
        on_delete=models.CASCADE,
        related_name="grants",
        db_index=False,
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
