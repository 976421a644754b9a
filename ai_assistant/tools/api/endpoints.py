"""The views of Django REST framework, by walking the URLconf of the site."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern
from rest_framework.schemas.generators import EndpointEnumerator
from rest_framework.views import APIView

from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.adapters.drf import WITH_BODY
from ai_assistant.tools.api.patterns import Address, Place, patterns


@dataclass(frozen=True, kw_only=True, eq=False)
class Endpoint(Address):
    """One method of a view of Django REST framework."""

    @property
    def action(self) -> str:
        """The action of a viewset; of other views the method."""
        actions = getattr(self.callback, "actions", None) or {}
        return str(actions.get(self.method.lower(), self.method.lower()))

    @property
    def has_body(self) -> bool:
        """Whether a request without values has an empty object as its body."""
        return self.method.lower() in WITH_BODY

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
    nothing: list[Endpoint] = []
    for pattern, place in patterns():
        yield from value_or(nothing, lambda: _of_pattern(pattern, place))  # noqa: B023 - called at once


def _of_pattern(pattern: URLPattern, place: Place) -> list[Endpoint]:
    callback: Any = pattern.callback
    kind = getattr(callback, "cls", None)
    if not (isinstance(kind, type) and issubclass(kind, APIView)):
        return []
    listing = EndpointEnumerator(patterns=[])
    if not (
        place.is_complete and listing.should_include_endpoint(place.path, callback)
    ):
        return []
    return [
        Endpoint(method=method, **place.address(pattern))
        for method in sorted(listing.get_allowed_methods(callback))
    ]
