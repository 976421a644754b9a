"""What drf-spectacular (the extra `schema`) says of the views that use it."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import (
    is_versioning_supported,
    modify_for_versioning,
    normalize_result_object,
)
from drf_spectacular.settings import spectacular_settings

from ai_assistant.tools.api.base import Described
from ai_assistant.tools.api.descriptions import one_line
from ai_assistant.types import JSON

Key = tuple[Any, str, str]  # view, method, regular expression


@dataclass(frozen=True, kw_only=True, slots=True)
class InDocument:
    """An operation of the site's own document."""

    id: str
    service: str
    described: Described


def in_document(components: dict[str, JSON]) -> dict[Key, InDocument]:
    """
    Return the operations of the document that the site would serve.

    Their schemas are added to `components`. A view that has another schema class is
    left out.
    """
    generator = _Generator()
    with GENERATOR_STATS.silence():
        found = dict(generator.operations())
        schemas = normalize_result_object(generator.registry.build({}))
    components.update(schemas.get("schemas", {}))
    return {
        key: _as_described(normalize_result_object(operation))
        for key, operation in found.items()
    }


class _Generator(SchemaGenerator):
    """Tells which view each operation is of; the settings of the site count."""

    def operations(self) -> Iterator[tuple[Key, dict[str, Any]]]:
        """Yield the operations with their views."""
        self._initialise_endpoints()
        views = self._get_paths_and_endpoints()
        prefix = _prefix(spectacular_settings.SCHEMA_PATH_PREFIX, views)
        for endpoint, (path, regex, method, view) in zip(
            self.endpoints or (), views, strict=True
        ):
            if not isinstance(view.schema, AutoSchema):
                continue
            view.request = spectacular_settings.GET_MOCK_REQUEST(
                method, path, view, None
            )
            where = self._versioned(path, method, view)
            operation = where and view.schema.get_operation(
                where, regex, prefix, method, self.registry
            )
            if operation:
                yield (endpoint[-1], method, regex), operation

    def _versioned(self, path: str, method: str, view: Any) -> str:
        """Return the path of the default version; empty if there is none."""
        versioning = view.versioning_class
        if not versioning or not is_versioning_supported(versioning):
            return path
        version = versioning.default_version
        if not version:
            return ""
        patterns = getattr(self.inspector, "patterns", None)
        return str(modify_for_versioning(patterns, method, path, view, version))


def _prefix(configured: str | None, views: list[Any]) -> str:
    """Return what the ids leave out, as the generator of the document finds it."""
    if configured is not None:
        return configured if configured.startswith("^") else f"^{configured}"
    if len({type(view) for _path, _regex, _method, view in views}) < 2:
        return "^/"
    common = posixpath.commonpath([path for path, *_rest in views])
    return f"^{re.escape(common)}"


def _as_described(operation: Mapping[str, Any]) -> InDocument:
    query = {
        one["name"]: {
            **one.get("schema", {}),
            **({"description": about} if (about := one.get("description")) else {}),
        }
        for one in operation.get("parameters", [])
        if one.get("in") == "query"
    }
    content = operation.get("requestBody", {}).get("content", {})
    return InDocument(
        id=operation["operationId"],
        service=next(iter(operation.get("tags", [])), ""),
        described=Described(
            about=one_line(operation.get("summary") or operation.get("description")),
            query=query,
            body=_schema(content),
            responses={
                str(status): _schema(one.get("content", {}))
                for status, one in operation.get("responses", {}).items()
            },
        ),
    )


def _schema(content: Mapping[str, Any]) -> JSON:
    """Return the schema of a body: of its JSON form, if there are several."""
    ordered = sorted(content, key=lambda kind: "json" not in kind)
    return content[ordered[0]].get("schema") if ordered else None
