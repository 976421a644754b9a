"""The views of Django REST framework, by walking the URLconf of the site."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.urls import (
    URLPattern,
    URLResolver,
    get_resolver,
    get_urlconf,
)
from django.urls.converters import IntConverter, UUIDConverter
from rest_framework.permissions import SAFE_METHODS
from rest_framework.schemas.generators import EndpointEnumerator
from rest_framework.views import APIView

from ai_assistant.safety.site_code import value_or
from ai_assistant.types import JSON, Effect

EFFECTS: Mapping[str, Effect] = {
    **dict.fromkeys(SAFE_METHODS, "read"),
    **dict.fromkeys(("POST", "PUT", "PATCH"), "write"),
    "DELETE": "destructive",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Endpoint:
    """One method of one pattern of the URLconf."""

    callback: Any
    method: str
    regex: str  # of all patterns that lead there
    path: str
    names: tuple[str, ...]  # the namespaces, and its own name
    apps: tuple[str, ...] = ()  # the app names of the namespaces
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)  # what its patterns add

    @property
    def url_name(self) -> str:
        """The name for `reverse`; empty if it has none."""
        return ":".join(self.names) if self.names[-1] else ""

    @property
    def action(self) -> str:
        """The action of a viewset; of other views the method."""
        actions = getattr(self.callback, "actions", None) or {}
        return str(actions.get(self.method.lower(), self.method.lower()))

    @property
    def function(self) -> Any:
        """The code that answers."""
        return getattr(self.callback.cls, self.action, None)

    def said(self, name: str, default: Any = None) -> Any:
        """Return what the site has said of it: on its function, its view or its class."""
        for place in (self.function, self.callback, self.callback.cls):
            if (found := getattr(place, name, None)) is not None:
                return found
        return default

    def is_at(self, match: Any) -> bool:
        """Return whether an address leads to this very pattern."""
        return (
            match.func is self.callback
            and self.url_name in ("", match.view_name)
            and match.captured_kwargs.keys() == self.arguments.keys()
            and match.extra_kwargs == self.extra
        )

    def view(self, request: Any = None) -> Any:
        """Return the view as it is for this method, without a call of it."""
        view = self.callback.cls(**getattr(self.callback, "initkwargs", {}))
        view.args, view.kwargs, view.format_kwarg, view.request = (), {}, None, request
        view.action_map = getattr(self.callback, "actions", None)
        if view.action_map:
            view.action = self.action
        return view


def endpoints() -> Iterator[Endpoint]:
    """Yield all that an own document of the site would tell, as they are resolved."""
    patterns = get_resolver(get_urlconf()).url_patterns
    yield from _walk(patterns, _Place())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    regex: str = ""
    names: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = True  # each of its arguments has a name

    def below(self, pattern: Any) -> "_Place":
        """Return the place of what a pattern leads to."""
        own = pattern.pattern
        converters = getattr(own, "converters", {})
        groups = own.regex.groupindex if hasattr(own, "regex") else {}
        names = converters or dict.fromkeys(groups)
        is_whole = isinstance(pattern, URLPattern)
        added = pattern.default_args if is_whole else pattern.default_kwargs
        return replace(
            self,
            regex=self.regex + str(own),
            arguments={**self.arguments, **{n: _schema(c) for n, c in names.items()}},
            extra={**self.extra, **added},
            is_complete=self.is_complete
            and (bool(names) or not getattr(own.regex, "groups", 0)),
        )


def _walk(patterns: Iterable[Any], place: _Place) -> Iterator[Endpoint]:
    nothing: list[Endpoint] = []
    for pattern in patterns:
        below = place.below(pattern)
        if isinstance(pattern, URLResolver):
            namespace = (pattern.namespace,) if pattern.namespace else ()
            app = (pattern.app_name,) if pattern.app_name else ()
            inner = replace(below, names=below.names + namespace, apps=below.apps + app)
            yield from _walk(pattern.url_patterns, inner)
        elif isinstance(pattern, URLPattern):
            yield from value_or(nothing, lambda: _of_pattern(pattern, below))  # noqa: B023 - called at once


def _of_pattern(pattern: URLPattern, place: _Place) -> list[Endpoint]:
    callback: Any = pattern.callback
    kind = getattr(callback, "cls", None)
    if not (isinstance(kind, type) and issubclass(kind, APIView)):
        return []
    listing = EndpointEnumerator(patterns=[])
    path = listing.get_path_from_regex(place.regex).replace("\\.", ".")
    is_sync = not getattr(kind, "view_is_async", False)
    if not (
        place.is_complete
        and is_sync
        and listing.should_include_endpoint(path, callback)
    ):
        return []
    return [
        Endpoint(
            callback=callback,
            method=method,
            regex=place.regex,
            path=path,
            names=(*place.names, pattern.name or ""),
            apps=place.apps,
            arguments=place.arguments,
            extra=place.extra,
        )
        for method in sorted(listing.get_allowed_methods(callback))
    ]


def _schema(converter: Any) -> JSON:
    if isinstance(converter, IntConverter):
        return {"type": "integer"}
    if isinstance(converter, UUIDConverter):
        return {"type": "string", "format": "uuid"}
    return {"type": "string"}
