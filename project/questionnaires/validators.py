"""What the fields of a questionnaire may hold."""

import re
import zoneinfo

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")

validate_language = RegexValidator(
    re.compile(rf"^{LANGUAGE.pattern}\Z"),
    _("Enter a language code such as “en” or “pt-BR”."),
)
validate_name = RegexValidator(
    r"^[a-z][a-z0-9_]*\Z",
    _("Enter lower-case letters, digits and underscores, beginning with a letter."),
)


def validate_languages(value: object) -> None:
    """Accept a list of different language codes."""
    if not isinstance(value, list) or not all(
        isinstance(code, str) and LANGUAGE.fullmatch(code) for code in value
    ):
        raise ValidationError(_("Enter a list of language codes, as [“en”, “de”]."))
    if len(set(value)) < len(value):
        raise ValidationError(_("Name each language once."))


def validate_json_object(value: object) -> None:
    """Accept a JSON object, not a list or a bare value."""
    if not isinstance(value, dict):
        raise ValidationError(_("Enter a JSON object, as {“minimum”: 0}."))


def validate_json_list(value: object) -> None:
    """Accept a JSON list, not an object or a bare value."""
    if not isinstance(value, list):
        raise ValidationError(_("Enter a JSON list, as [{“do”: “end”}]."))


def validate_time_zone(value: str) -> None:
    """Accept a name of the time zone database."""
    if value not in zoneinfo.available_timezones():
        raise ValidationError(
            _("“%(value)s” is not a time zone. Enter a name such as “Europe/Berlin”."),
            params={"value": value},
        )
