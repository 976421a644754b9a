"""What the owners of a site say of modules, and the modules that they make."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.configuration import NAME_CHARS, ConfigurationRow

MODULE_CHARS = 8000  # of its instructions
PAGE_CHARS = 200  # of a line of `pages`
SMALLEST_USD = Decimal("0.0001")
MOST_STARS = 5  # of a line: with many of them, to match takes long
PAGE = re.compile(r"[\w:*.-]+", re.ASCII)
OPERATION = re.compile(r"!?[\w.:/*?\[\]-]+")
is_module_id = RegexValidator(
    r"^[a-z0-9]+([_-][a-z0-9]+)*\Z",
    _("Use lower-case letters, digits, hyphens and underscores: returned-orders."),
)


class Module(ConfigurationRow):
    """
    What the site says of a module: one that an app registers, or one made here.

    With the id of a registered module it limits and extends that one. With any other
    it is a module of its own, for those of its `pages` that no app has a module for.
    """

    name = models.CharField(_("id"), max_length=NAME_CHARS, validators=[is_module_id])
    # It is for pages, and for persons; these say for which pages other rows are.
    module = None  # type: ignore[assignment]
    model = None  # type: ignore[assignment]
    view = None  # type: ignore[assignment]
    language = None  # type: ignore[assignment]
    label = models.CharField(_("label"), max_length=100, blank=True)
    pages = models.TextField(_("pages"), max_length=4000, blank=True)
    text = models.TextField(_("instructions"), max_length=MODULE_CHARS, blank=True)
    tools = models.TextField(_("tools"), max_length=8000, blank=True)
    data_models = models.TextField(_("models"), max_length=4000, blank=True)
    actions = models.TextField(_("admin actions"), max_length=4000, blank=True)
    api_operations = models.TextField(_("API operations"), max_length=8000, blank=True)
    features = models.JSONField(_("features"), default=dict, blank=True)
    steps = models.PositiveSmallIntegerField(
        _("steps"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    run_s = models.FloatField(
        _("running time in seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
    )
    tokens = models.PositiveBigIntegerField(
        _("tokens"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    usd = models.DecimalField(
        _("US dollars"),
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(SMALLEST_USD)],
    )
    agent = models.CharField(_("agent"), max_length=NAME_CHARS, blank=True)
    profile = models.CharField(_("profile"), max_length=100, blank=True)
    read_only = models.BooleanField(_("nothing is changed"), default=False)
    read_only_permission = models.CharField(
        _("changed with this permission only"), max_length=200, blank=True
    )
    read_only_field = models.CharField(
        _("not changed where this field"), max_length=200, blank=True
    )
    read_only_values = models.CharField(
        _("has one of these values"), max_length=500, blank=True
    )
    read_only_reason = models.CharField(_("reason"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("module")
        verbose_name_plural = _("modules")
        constraints = (
            models.UniqueConstraint(fields=["name"], name="aia_module_name"),
        )

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of one answer that are given, as JSON, by name."""
        given = {
            "steps": self.steps,
            "run_s": self.run_s,
            "tokens": self.tokens,
            "usd": None if self.usd is None else str(self.usd),
        }
        return {name: value for name, value in given.items() if value is not None}

    def clean(self) -> None:
        """Reject patterns of pages that cannot be, and half a rule."""
        wrong = {}
        if errors := [*page_errors(self.pages)]:
            wrong["pages"] = errors
        if errors := [*operation_errors(self.api_operations)]:
            wrong["api_operations"] = errors
        if error := features_error(self.features):
            wrong["features"] = [error]
        if bool(self.read_only_field) != bool(self.read_only_values):
            name = "read_only_values" if self.read_only_field else "read_only_field"
            wrong[name] = [gettext("A field and its values belong together.")]
        if wrong:
            raise ValidationError(wrong)


def page_errors(pages: str) -> Iterator[str]:
    """Yield what is wrong with lines of `pages`, a sentence for each."""
    for line in pages.split():
        named = {"page": line[:PAGE_CHARS]}
        if not PAGE.fullmatch(line):
            yield (
                gettext(
                    "“%(page)s” is no page. Write the name of a view, with “*” for "
                    "anything, or a model: “admin:shop_order_*” or “shop.order”."
                )
                % named
            )
        elif len(line) > PAGE_CHARS or line.count("*") > MOST_STARS:
            yield gettext("“%(page)s” is too long. Write a shorter pattern.") % named


def operation_errors(operations: str) -> Iterator[str]:
    """Yield what is wrong with lines of `api_operations`, a sentence for each."""
    for line in operations.split():
        named = {"name": line[:PAGE_CHARS]}
        if not OPERATION.fullmatch(line):
            yield (
                gettext(
                    "“%(name)s” is no operation. Write its name, with “*” for anything, "
                    "or “!” before what is left out: “orders.*”, “!orders.refund”."
                )
                % named
            )
        elif len(line) > PAGE_CHARS or line.count("*") > MOST_STARS:
            yield gettext("“%(name)s” is too long. Write a shorter pattern.") % named


def features_error(features: object) -> str:
    """Return what is wrong with features that are no names that are on or off."""
    is_good = isinstance(features, dict) and all(
        isinstance(name, str) and isinstance(is_on, bool)
        for name, is_on in features.items()
    )
    return (
        "" if is_good else gettext("Write the names of features, each true or false.")
    )
