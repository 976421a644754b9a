"""The templates that are drawn while a tool works."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.test.signals import template_rendered


@contextmanager
def drawn_templates(*, widgets: bool = False) -> Iterator[list[str]]:
    """
    Yield the names of the templates that the block draws, as they are drawn.

    Those of a widget are left out, unless `widgets`: one of an unknown kind is drawn by
    itself, so that its inputs can be read. Django tells of templates in tests alone.
    """
    names: list[str] = []

    def note(template: Any, context: Any, **_rest: Any) -> None:
        if widgets or "widget" not in context:
            names.append(str(template.name))

    template_rendered.connect(note)
    try:
        yield names
    finally:
        template_rendered.disconnect(note)
