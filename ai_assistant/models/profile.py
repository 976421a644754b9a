"""The model profiles that owners of a site keep in the admin."""

from typing import Any
from urllib.parse import urlsplit

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.configuration import ImportedRow

is_slug = RegexValidator(
    r"^[-a-zA-Z0-9_]+\Z", _("Use letters, digits, hyphens and underscores.")
)
seconds: dict[str, Any] = {
    "null": True,
    "blank": True,
    "validators": [MinValueValidator(1)],
}
price: dict[str, Any] = {
    "null": True,
    "blank": True,
    "max_digits": 12,
    "decimal_places": 6,
    "validators": [MinValueValidator(0)],
}


class Profile(ImportedRow):
    """
    A model profile. One with the name of a setting's takes its place, or switches it off.

    The key is encrypted, together with where it may be sent: `configuration.profiles`
    reads and writes it.
    """

    name = models.CharField(_("name"), max_length=100, validators=[is_slug])
    is_active = models.BooleanField(_("active"), default=True)
    label = models.CharField(_("label"), max_length=100, blank=True)
    provider = models.CharField(_("provider"), max_length=20, blank=True)
    model = models.CharField(_("model"), max_length=200)
    api_base = models.CharField(_("base URL"), max_length=500, blank=True)
    api_key_env = models.CharField(
        _("environment variable of the key"), max_length=100, blank=True
    )
    api_key_encrypted = models.TextField(blank=True, editable=False)
    reasoning = models.CharField(_("reasoning"), max_length=20, blank=True)
    window_tokens = models.PositiveIntegerField(
        _("context window in tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
    )
    first_byte_s = models.FloatField(_("seconds to the first word"), **seconds)
    idle_s = models.FloatField(_("seconds of silence"), **seconds)
    model_call_s = models.FloatField(_("seconds for a whole call"), **seconds)
    fallback = models.CharField(_("fallback"), max_length=100, blank=True)
    input_usd_per_mtok = models.DecimalField(
        _("US dollars for a million tokens of input"), **price
    )
    output_usd_per_mtok = models.DecimalField(
        _("US dollars for a million tokens of output"), **price
    )
    options = models.JSONField(_("options"), default=dict, blank=True)

    class Meta:
        verbose_name = _("model profile")
        verbose_name_plural = _("model profiles")
        constraints = (
            models.UniqueConstraint(fields=["name"], name="aia_profile_name"),
        )

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """Validate and save the row."""
        self.full_clean()
        super().save(*args, **options)

    @property
    def destination(self) -> str:
        """Where requests go: scheme, host and port, or whose server the model string means."""
        if not self.api_base:
            return self.model.partition("/")[0].lower()
        parts = urlsplit(self.api_base)
        port = parts.port or {"http": 80}.get(parts.scheme, 443)
        return f"{parts.scheme}://{parts.hostname}:{port}"
