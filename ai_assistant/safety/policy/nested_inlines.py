"""Inlines in the rows of an inline, as django-nested-admin and others have them."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest

from ai_assistant.safety.policy.admin_pages import VIEWS, is_overridden
from ai_assistant.safety.policy.sensitive import is_opted_out, is_sensitive_model

MOST_LEVELS = 5  # of rows within rows: an inline may be nested in itself
# One of these methods of the ModelAdmin makes the formsets of its rows.
NESTING = (
    *("_create_formsets", "get_inline_formsets", "render_change_form"),
    *VIEWS["change"],
)


def nested_inlines(
    model_admin: Any, inline: Any, request: HttpRequest, owner: Any
) -> Iterator[Any]:
    """
    Yield the inlines in each row of an inline that the user may work with.

    `owner` is what the rows of `inline` belong to. There are none on the pages of
    Django's own ModelAdmin, whatever the inline says.
    """
    if not is_overridden(model_admin, *NESTING):
        return
    # An inline of django-polymorphic has one for each class of its rows.
    for own in (inline, *getattr(inline, "child_inline_instances", ())):
        ask = getattr(own, "get_inline_instances", None)
        if ask is not None and not is_withheld_inline(own):
            yield from (
                one for one in ask(request, owner) if not is_withheld_inline(one)
            )


def is_withheld_inline(inline: Any) -> bool:
    """Return whether the rows of an inline are sensitive, or kept from the assistant."""
    return is_sensitive_model(inline.model) or is_opted_out(inline.model, inline)
