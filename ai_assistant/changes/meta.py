"""What Django knows of a model, through its documented door `_meta`."""

from functools import cache
from typing import Any

from django.apps import apps


def meta(model: Any) -> Any:  # noqa: ANN401 - a model class or instance
    """Return the options of a model."""
    return model._meta  # noqa: SLF001 - Django's public Meta API


def concrete(model: Any) -> Any:  # noqa: ANN401
    """Return the model that has the table: of a proxy, the one behind it."""
    return meta(model).concrete_model


def label(model: Any) -> str:  # noqa: ANN401
    """Return "app.model" of the model that has the table."""
    return str(meta(concrete(model)).label_lower)


def columns(model: Any) -> list[Any]:  # noqa: ANN401
    """Return the fields with a column in the model's own table."""
    return [field for field in meta(model).local_concrete_fields if field.column]


def has_one_key(model: Any) -> bool:  # noqa: ANN401
    """Tell whether the primary key is one column; a composite one has none."""
    return bool(getattr(meta(model).pk, "column", None))


@cache
def _by_table() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model in apps.get_models(include_auto_created=True):
        if meta(model).proxy:
            continue
        table = meta(model).db_table
        if table not in found or meta(model).managed:
            found[table] = model
    return found


def model_of_table(table: str) -> Any:  # noqa: ANN401 - a model class
    """Return the model of a table, None if there is none."""
    return _by_table().get(table)


def model_of_label(name: str) -> Any:  # noqa: ANN401 - a model class
    """Return the model "app.model", also of a made many-to-many table, or None."""
    try:
        return apps.get_model(name)
    except (LookupError, ValueError):
        return None
