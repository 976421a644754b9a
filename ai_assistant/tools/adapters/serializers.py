"""What a DRF serializer takes, as a JSON Schema."""

from typing import Any

from rest_framework.schemas.openapi import AutoSchema
from rest_framework.serializers import BaseSerializer


def serializer_schema(
    serializer: type[BaseSerializer[Any]], *, partial: bool = False
) -> dict[str, Any]:
    """Return the schema of the fields that may be written; none required if partial."""
    given = serializer()
    if not hasattr(given, "fields"):
        return {"type": "object"}
    told = AutoSchema().map_serializer(given)
    names = [name for name, field in given.fields.items() if not field.read_only]
    required = [] if partial else [n for n in told.get("required", []) if n in names]
    return {
        "type": "object",
        "properties": {name: told["properties"][name] for name in names},
        "required": required,
        "additionalProperties": False,
    }
