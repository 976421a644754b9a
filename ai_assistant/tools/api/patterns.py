"""The addresses of the site: a walk through its URLconf, of whichever framework."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from django.contrib.admindocs.views import simplify_regex
from django.urls import URLPattern, URLResolver, get_resolver, get_urlconf, reverse
from django.urls.converters import IntConverter, UUIDConverter
from django.urls.resolvers import RoutePattern

from ai_assistant.types import JSON, Effect

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
EFFECTS: Mapping[str, Effect] = {
    **dict.fromkeys(SAFE_METHODS, "read"),
    **dict.fromkeys(("POST", "PUT", "PATCH"), "write"),
    "DELETE": "destructive",
}
PARAMETER = re.compile(r"<(?:[^>:]+:)?(\w+)>")  # of a path: with its converter


@dataclass(frozen=True, kw_only=True, eq=False)
class Address:
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
        """The name of what it does, as it is in the code."""
        return self.method.lower()

    def path_for(self, values: Mapping[str, str | int]) -> str:
        """Return the path with these arguments, not decoded. Raise NoReverseMatch."""
        return unquote(reverse(self.url_name or self.callback, kwargs=dict(values)))

    @property
    def has_body(self) -> bool:
        """Whether a request without values has an empty object as its body."""
        return False

    def is_at(self, match: Any) -> bool:
        """Return whether a resolved address leads to this very pattern."""
        return (
            match.func is self.callback
            and self.url_name in ("", match.view_name)
            and self.is_like(match)
        )

    def is_like(self, match: Any) -> bool:
        """Return whether the arguments of a resolved address are those of this one."""
        captured = match.captured_kwargs.keys() == self.arguments.keys()
        return bool(captured and match.extra_kwargs == self.extra)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a pattern stands: what the patterns above it add."""

    regex: str = ""
    names: tuple[str, ...] = ()
    apps: tuple[str, ...] = ()
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    converters: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = True  # each of its arguments has a name
    is_route: bool = True  # no regular expression is among the patterns

    @property
    def path(self) -> str:
        """The path as people read it: /api/orders/{pk}/."""
        return PARAMETER.sub(r"{\1}", simplify_regex(self.regex)).replace("\\.", ".")

    def address(self, pattern: URLPattern) -> dict[str, Any]:
        """Return the fields of an Address that every framework has."""
        return {
            "callback": pattern.callback,
            "regex": self.regex,
            "path": self.path,
            "names": (*self.names, pattern.name or ""),
            "apps": self.apps,
            "arguments": self.arguments,
            "extra": self.extra,
        }

    def below(self, pattern: Any) -> "Place":
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
            converters={**self.converters, **converters},
            is_route=self.is_route and isinstance(own, RoutePattern),
            is_complete=self.is_complete
            and (bool(names) or not getattr(own.regex, "groups", 0)),
        )


def patterns() -> Iterator[tuple[URLPattern, Place]]:
    """Yield the patterns that lead to views, in the order in which they are resolved."""
    yield from _walk(get_resolver(get_urlconf()).url_patterns, Place())


def _walk(listed: Iterable[Any], place: Place) -> Iterator[tuple[URLPattern, Place]]:
    for pattern in listed:
        below = place.below(pattern)
        if isinstance(pattern, URLResolver):
            namespace = (pattern.namespace,) if pattern.namespace else ()
            app = (pattern.app_name,) if pattern.app_name else ()
            inner = replace(below, names=below.names + namespace, apps=below.apps + app)
            yield from _walk(pattern.url_patterns, inner)
        elif isinstance(pattern, URLPattern):
            yield pattern, below


def _schema(converter: Any) -> JSON:
    if isinstance(converter, IntConverter):
        return {"type": "integer"}
    if isinstance(converter, UUIDConverter):
        return {"type": "string", "format": "uuid"}
    return {"type": "string"}
