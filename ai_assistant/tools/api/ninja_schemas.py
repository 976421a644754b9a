"""What django-ninja tells of an operation: its document, and the models behind it."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from django.apps import apps
from ninja.openapi.schema import OpenAPISchema
from ninja.orm.factory import factory
from pydantic import BaseModel

from ai_assistant import conf
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.base import COMPONENT, ApiRequest, Described, Kept
from ai_assistant.tools.api.descriptions import one_line
from ai_assistant.tools.api.kept import (
    check_found_by,
    check_paths,
    model_field,
    with_fields,
    words_of_value,
)
from ai_assistant.tools.api.patterns import Address
from ai_assistant.types import JSON

JSON_BODY = "application/json"
REQUIRED: Mapping[str, JSON] = {"required": True}
ORDERS = frozenset({"order", "order_by", "ordering", "sort", "sort_by"})


def models_of(operation: Any) -> list[type[Any]]:
    """
    Return the models of what an operation answers and takes.

    What is within their schemas, of other models, does not count.
    """
    found = [_model_of(one) for one in _schemas(operation, is_outermost=True)]
    return [one for one in dict.fromkeys(found) if one is not None]


def kept_by(operation: Any) -> Kept:
    """
    Return what of the fields of an operation is kept from the assistant.

    A schema without a model does not say what its fields are of: there the name alone
    counts, of each field that the site has listed.
    """
    fields = [one for schema in _schemas(operation) for one in _fields(schema)]
    kept = with_fields(Kept(), fields)
    known = {name for name, own in fields if own is not None}
    return Kept(
        hidden=kept.hidden | (_listed("SENSITIVE") - known),
        fixed=kept.fixed | (_listed("READ_ONLY") - known),
        opened=kept.opened,
    )


def check_query(operation: Any, asked: ApiRequest, kept: Kept) -> None:
    """Raise ModelRetry if a parameter filters, orders or searches by such a field."""
    models, filters = models_of(operation), dict(_filters(operation))
    for name, value in asked.query.items():
        paths = [name, *filters.get(name, ())]
        if name in ORDERS:
            paths += words_of_value(value)
        check_paths(name, paths, models, kept)


def check_path(address: Address, operation: Any, kept: Kept) -> None:
    """Raise ModelRetry if an address finds its row by such a field."""
    models = models_of(operation)
    for name in address.arguments:
        check_found_by(name, models, kept)


def _listed(setting: str) -> frozenset[str]:
    """Return the names of the fields that the site lists as app.model.field."""
    labels = [str(label).split(".") for label in conf.get("DATA", setting)]
    return frozenset(label[2] for label in labels if len(label) == 3)


def _schemas(operation: Any, *, is_outermost: bool = False) -> list[type[BaseModel]]:
    """Return the schemas of an operation, and those in them, or down to a model."""
    found: dict[type[BaseModel], None] = {}
    left = [*operation.response_models.values(), *operation.models]
    while left:
        kind = left.pop(0)
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            left += get_args(kind)
        elif kind not in found:
            found[kind] = None
            if is_outermost and _model_of(kind) is not None:
                continue
            left += [field.annotation for field in kind.model_fields.values()]
    return [*found]


def _model_of(schema: type[BaseModel]) -> type[Any] | None:
    """Return the model of a schema that was made of one; None for all others."""
    made = {one: key[0] for key, one in factory.schemas.items()}
    for base in schema.__mro__:
        meta = base.__dict__.get("Meta")
        model: type[Any] | str | None = made.get(base) or getattr(meta, "model", None)
        if model is not None:
            return apps.get_model(model) if isinstance(model, str) else model
    return None


def _fields(schema: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """Yield the names of each field, and the field or the model behind it."""
    model = _model_of(schema)
    for name, field in schema.model_fields.items():
        own = None
        for source in (field.alias, name):
            if model is not None and own is None and source:
                own = model_field(model, source.replace("__", ".").split("."))
        named = {name, field.alias, field.serialization_alias}
        for one in filter(None, named):
            yield one, own
        for inner in _inner(field.annotation):
            yield name, _model_of(inner)


def _inner(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _inner(part)


def _filters(operation: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the parameters of FilterSchemas, and the paths that they look at."""
    for schema in _schemas(operation):
        for name, field in schema.model_fields.items():
            extra = field.json_schema_extra
            found = [getattr(one, "q", None) for one in field.metadata]
            found += [extra.get("q")] if isinstance(extra, dict) else []
            asked = [one for one in found if one]
            if asked:
                paths = [
                    path
                    for one in asked
                    for path in (one if isinstance(one, list | tuple) else [one])
                ]
                yield (
                    field.alias or name,
                    [f"{name}{one}" if one.startswith("__") else one for one in paths],
                )


# --- what they take and answer ---


class Document(OpenAPISchema):
    """The document of an API, of which each operation is asked for by itself."""

    def get_paths(self) -> dict[str, Any]:
        """Return none: one that cannot be told would keep all others back."""
        return {}

    def of(self, operation: Any) -> dict[str, Any]:
        """Return what it tells of an operation; nothing if that fails."""
        self.all_operation_ids.clear()  # else it prints that one is there twice
        nothing: dict[str, Any] = {}
        failed = "django-ninja cannot tell what %r takes"
        found = value_or(
            nothing, lambda: self.operation_details(operation), failed, operation.path
        )
        return {name: self._own(value) for name, value in found.items()}

    def components(self) -> dict[str, JSON]:
        """Return the schemas by name; those of two APIs may have the same one."""
        return {
            f"{self.api.urls_namespace}.{name}": self._own(schema)
            for name, schema in self.schemas.items()
        }

    def _own(self, value: Any) -> Any:
        """Return a part of it with its references, and without pydantic's titles."""
        if isinstance(value, list):
            return [self._own(one) for one in value]
        if not isinstance(value, dict):
            return value
        found: dict[str, Any] = {}
        for name, one in value.items():
            if name == "properties" and isinstance(one, dict):
                found[name] = {field: self._own(own) for field, own in one.items()}
            elif name == "$ref" and isinstance(one, str):
                own_name = one.removeprefix(COMPONENT)
                found[name] = f"{COMPONENT}{self.api.urls_namespace}.{own_name}"
            elif not (name == "title" and isinstance(one, str)):
                found[name] = self._own(one)
        return found


def described(operation: Any, details: Mapping[str, Any]) -> Described:
    """Return what a document tells of an operation."""
    content = details.get("requestBody", {}).get("content", {})
    return Described(
        about=one_line(operation.description or operation.summary),
        query={
            one["name"]: {**one["schema"], **(REQUIRED if one["required"] else {})}
            for one in _parameters(details, "query")
        },
        body=content.get(JSON_BODY, {}).get("schema"),
        responses={
            str(status): _schema(one.get("content", {}))
            for status, one in details.get("responses", {}).items()
        },
    )


def path_schemas(details: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the schemas of the arguments of a path."""
    return {one["name"]: one["schema"] for one in _parameters(details, "path")}


def _parameters(details: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    return [one for one in details.get("parameters", ()) if one["in"] == place]


def _schema(content: Mapping[str, Any]) -> JSON:
    """Return the schema of an answer, whatever its type is."""
    return next((one.get("schema") for one in content.values()), None)
