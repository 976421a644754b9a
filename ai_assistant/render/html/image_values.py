"""The values of an image as a person reads them: labels, names, local times."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.changes.display import shown
from ai_assistant.changes.sealed import is_sealed
from ai_assistant.models.change import RowChange
from ai_assistant.safety.foreign import value_or
from ai_assistant.tools.data.display import name_of

Images = Iterable[tuple[Any, Mapping[str, Any]]]  # a model, and values by attname
MOST_NAMES = 200  # of related objects that are looked up, of each model


class Names:
    """What related objects are called: one query a model, however many rows."""

    def __init__(self, images: Images) -> None:
        wanted: dict[Any, set[str]] = defaultdict(set)
        for model, image in images:
            for field in model._meta.concrete_fields:  # noqa: SLF001
                value = image.get(field.attname)
                if field.is_relation and _is_key(value):
                    wanted[field.related_model].add(str(value))
        self._names = {
            model: _names(model, sorted(keys)[:MOST_NAMES])
            for model, keys in wanted.items()
        }

    def name(self, model: Any, key: Any) -> str:  # noqa: ANN401
        """Return the object's name; its key if it is gone."""
        return self._names.get(model, {}).get(str(key), f"#{key}")


def text_of(field: Any, value: Any, names: Names) -> str:  # noqa: ANN401
    """Return the JSON value of a column as text; empty for NULL."""
    if is_sealed(value):
        return _("hidden")
    if field.is_relation and _is_key(value):
        return names.name(field.related_model, value)
    return shown(field, value)


def shown_fields(row: RowChange, model: Any) -> list[Any]:  # noqa: ANN401
    """Return the fields of a row that tell what happened to it."""
    columns = model._meta.concrete_fields  # noqa: SLF001
    if row.kind == RowChange.Kind.UPDATE:
        return [field for field in columns if field.attname in row.fields]
    if row.kind != RowChange.Kind.CREATE:
        return []
    after = row.after or {}
    return [
        field
        for field in columns
        if not field.primary_key and after.get(field.attname) not in (None, "")
    ]


def _is_key(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _names(model: Any, keys: list[str]) -> dict[str, str]:  # noqa: ANN401
    def read() -> dict[str, str]:
        found = model._base_manager.filter(pk__in=keys)  # noqa: SLF001
        return {str(one.pk): name_of(one) for one in found}

    return value_or({}, read)  # its table may be gone
