"""Inlines in the rows of an inline, as django-nested-admin and django-unfold have them."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.admin import ModelAdmin
from django.http import HttpRequest

from ai_assistant.safety.policy.admin_pages import VIEWS, is_overridden
from ai_assistant.safety.policy.sensitive import is_opted_out, is_sensitive_model
from ai_assistant.safety.site_code import value_or

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
        if is_withheld_inline(own):
            continue
        for nested in _inlines_in(own, request, owner):
            if not is_withheld_inline(nested):
                yield nested


def nested_formsets(
    model_admin: Any, inline: Any, request: HttpRequest, owner: Any
) -> list[tuple[Any, Any]]:
    """Return the inlines in a new row of an inline, after their formset classes."""
    nothing: list[tuple[Any, Any]] = []
    # The code of a site may need more than an empty row.
    return value_or(
        nothing,
        lambda: [
            (nested.get_formset(request, nested.parent_model()), nested)
            for nested in nested_inlines(model_admin, inline, request, owner)
        ],
        "%s does not tell the inlines of an empty row",
        inline.opts.label_lower,
    )


def _inlines_in(inline: Any, request: HttpRequest, owner: Any) -> Iterable[Any]:
    if hasattr(inline, "get_inline_instances"):
        return inline.get_inline_instances(request, owner)  # type: ignore[no-any-return]
    if hasattr(inline, "inlines"):  # the ModelAdmin asks for their permissions
        return ModelAdmin.get_inline_instances(inline, request, owner)
    return ()


def _nested_classes(
    model_admin: Any, inline: Any, request: HttpRequest
) -> Iterator[type[Any]]:
    """Yield the classes of the inlines in the rows of an inline, whoever asks."""
    nests = hasattr(inline, "get_inline_instances") or hasattr(inline, "inlines")
    if (
        nests
        and is_overridden(model_admin, *NESTING)
        and not is_withheld_inline(inline)
    ):
        yield from inline.get_inlines(request, None)


def inline_ways(
    model_admin: Any, request: HttpRequest, obj: Any = None
) -> Iterator[tuple[type[Any], ...]]:
    """
    Yield the classes of the inlines of a page, those within rows after their own.

    Each with those that lead to it, outermost first, whoever asks.
    """
    site = model_admin.admin_site
    ways: list[tuple[type[Any], ...]]
    ways = [(one,) for one in model_admin.get_inlines(request, obj)]
    for _depth in range(MOST_LEVELS + 1):
        yield from ways
        ways = [
            (*way, nested)
            for way in ways
            for nested in _nested_classes(
                model_admin,
                way[-1](way[-2].model if len(way) > 1 else model_admin.model, site),
                request,
            )
        ]


def is_withheld_inline(inline: Any) -> bool:
    """Return whether the rows of an inline are sensitive, or kept from the assistant."""
    return is_sensitive_model(inline.model) or is_opted_out(inline.model, inline)


def nested_in_form(form: Any) -> list[Any]:
    """Return the formsets in a row of a page, as its template gets them."""
    # django-nested-admin has bare formsets under the second name.
    found = getattr(form, "inlines", None) or getattr(form, "nested_formsets", None)
    return [one for one in found or () if hasattr(one, "formset")]


def with_nested(formsets: list[Any]) -> list[Any]:
    """Return bound formsets with those in their rows, which may be among them."""
    found, known = list(formsets), {id(formset) for formset in formsets}
    for formset in found:  # which grows
        nested = [one.formset for form in formset.forms for one in nested_in_form(form)]
        found += [one for one in nested if id(one) not in known]
    return found
