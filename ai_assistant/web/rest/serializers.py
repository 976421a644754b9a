"""What bodies and answers are made of: what is not told is refused, all else is exact."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any, ClassVar

from django.core.validators import ProhibitNullCharactersValidator
from django.db import models
from django.utils.translation import gettext as _
from rest_framework import ISO_8601, serializers

# --- bodies ---


class Body(serializers.Serializer[Any]):
    """What a request may say: no other fields, and types as they are told."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the values. Raise ValidationError for fields that are not here too."""
        errors: dict[str, Any] = {}
        value = None
        try:
            value = super().to_internal_value(data)
        except serializers.ValidationError as error:
            errors = dict(error.detail)  # type: ignore[arg-type]  # of a serializer
        if isinstance(data, Mapping):
            errors |= {
                name: [_("There is no such field.")]
                for name in data
                if name not in self.fields
            }
        if errors:
            raise serializers.ValidationError(errors)
        return value


class _Exact(serializers.Field[Any, Any, Any, Any]):
    """Takes values of one type of JSON only."""

    kind: ClassVar[type] = str

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, self.kind):
            self.fail("invalid", value=data)
        return super().to_internal_value(data)


class Text(_Exact, serializers.CharField):
    """A text as it was sent; the engine says what it may not hold."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        self.validators = [
            validator
            for validator in self.validators
            if not isinstance(validator, ProhibitNullCharactersValidator)
        ]


class Id(_Exact, serializers.UUIDField):
    """The id of a row."""


class Flag(_Exact, serializers.BooleanField):
    """True or false."""

    kind = bool


# --- answers ---


class ReadSerializer(serializers.Serializer[Any]):
    """An answer, or a part of one: all of it is there, and none of it is written."""

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, as fields of an answer."""
        fields = super().get_fields()
        for field in fields.values():
            field.read_only, field.required = True, False
        return fields


class Moment(serializers.DateTimeField):
    """ISO 8601 in UTC, whatever the site has for its own API."""

    def __init__(self, **options: Any) -> None:
        super().__init__(format=ISO_8601, default_timezone=UTC, **options)


class Money(serializers.DecimalField):
    """US dollars, as a text: no program rounds it by mistake."""

    def __init__(self, **options: Any) -> None:
        exact = {"max_digits": None, "decimal_places": None, "coerce_to_string": True}
        super().__init__(**{**options, **exact})


class ReadModelSerializer(ReadSerializer, serializers.ModelSerializer[Any]):
    """Columns of a row."""

    serializer_field_mapping: ClassVar = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.DateTimeField: Moment,
        models.DecimalField: Money,
        models.BigAutoField: serializers.IntegerField,
    }

    def include_extra_kwargs(self, kwargs: Any, extra_kwargs: Any) -> Any:
        """Return the options of a field that is only read."""
        options = {**extra_kwargs, "read_only": True}
        return super().include_extra_kwargs(kwargs, options)

    def get_uniqueness_extra_kwargs(self, *args: Any) -> Any:
        """Return the options as they are: nothing is compared with other rows."""
        return args[-1], {}
