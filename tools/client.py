"""
Write the values of the Python client from the document of the REST API.

`make client`, after a field of an answer has changed. The file is made of every field
that a site answers; what is only part of another answer stays a dict.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

FILE = Path(__file__).resolve().parents[1] / "ai_assistant/client/values.py"
HEAD = '''"""
What a site answers: `make client` writes this from the document of the API.

Fields that are not told here are kept, and can be read.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An answer, or a part of one."""

    model_config = ConfigDict(extra="allow", frozen=True)
'''
# Each with what it has beside when it is read alone.
CLASSES = {
    **dict.fromkeys(("Conversation", "Message", "Run", "Queued", "Event", "Events")),
    **dict.fromkeys(("Option", "Question", "Proposal", "Interrupt")),
    "Call": "CallDetail",
    "Change": "ChangeDetail",
}
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
TYPES |= {"object": "dict[str, Any]", "null": "None"}
FORMATS = {"uuid": "UUID", "date-time": "datetime"}
EMPTY = {"array": "[]"}  # of a part that is not there; else None


def hint(schema: dict[str, Any]) -> str:
    """Return the type of a field."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return name if name in CLASSES else "dict[str, Any]"
    if "oneOf" in schema:
        return " | ".join(map(hint, schema["oneOf"]))
    kind = schema.get("type", "")
    if isinstance(kind, list):
        return " | ".join(hint({**schema, "type": one}) for one in kind)
    if kind == "array":
        return f"list[{hint(schema['items'])}]"
    is_text = kind == "string"
    return (
        FORMATS.get(schema.get("format", ""), "str")
        if is_text
        else TYPES.get(kind, "Any")
    )


def lines(name: str, detail: str | None, schemas: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a class."""
    own = schemas[name]
    yield f'\n\nclass {name}(Value):\n    """{own["description"]}"""\n'
    for field, schema in own["properties"].items():
        yield f"    {field}: {hint(schema)}"
    for field, schema in schemas[detail]["properties"].items() if detail else ():
        if field not in own["properties"]:
            default = EMPTY.get(schema.get("type", ""), "None")
            yield f"    {field}: {hint(schema)} = {default}"


def source(document: dict[str, Any]) -> str:
    """Return the module."""
    schemas = document["components"]["schemas"]
    body = [
        line
        for name, detail in CLASSES.items()
        for line in lines(name, detail, schemas)
    ]
    return HEAD + "\n".join(body) + "\n"


def main() -> None:
    """Write the file."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
    django.setup()
    from ai_assistant.web.rest.schema import ApiSchemaGenerator  # noqa: PLC0415 - after setup

    FILE.write_text(source(ApiSchemaGenerator().get_schema()), encoding="utf-8")
    print(f"{FILE.name}: {len(CLASSES)} classes")


if __name__ == "__main__":
    main()
