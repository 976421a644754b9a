"""The names of the site's views, as `matches` and providers say them."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.urls import URLResolver, get_resolver

from ai_assistant.checks.site import has_address


def site_views() -> list[str]:
    """Return all names with their namespaces; none if E028 or E029 come first."""
    has_urls = getattr(settings, "ROOT_URLCONF", None) and has_address("admin:login")
    return sorted(set(_below(get_resolver()))) if has_urls else []


def _below(resolver: URLResolver, namespace: str = "") -> Iterator[str]:
    entry: Any
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _below(entry, inner)
        else:
            yield namespace + (entry.name or entry.lookup_str)
