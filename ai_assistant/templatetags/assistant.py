"""`{% load assistant %}`: what a template tells the assistant of its page."""

import json

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ai_assistant.types import JSON

register = template.Library()

SHOWN_CHARS = 200  # of a value in an error


@register.simple_tag
def assistant_context(
    item_id: str,
    value: JSON,
    *,
    description: str = "",
    label: str = "",
    auto: bool = True,
) -> SafeString:
    """
    Tell the assistant a value of this page, in an element that nobody sees.

    Holds no script, so that every content security policy lets it pass. Raise
    ValueError for an empty id, TypeError for a value that has no JSON form and for an
    `auto` that is neither True nor False; each names the item.
    """
    if not item_id:
        raise ValueError(
            f"{{% assistant_context %}} got the id {item_id!r}. Give a text of its own "
            'first, in quotes: {% assistant_context "cart" cart %}.'
        )
    if not isinstance(auto, bool):
        raise TypeError(
            f"{_tag(item_id)} got auto={auto!r}. Write auto=True or auto=False, "
            "without quotes."
        )
    return format_html(
        '<template data-aia-context="{}" data-aia-description="{}" '
        'data-aia-label="{}" data-aia-auto="{}" data-aia-value="{}"></template>',
        item_id,
        description or item_id,
        label or description or item_id,
        "true" if auto else "false",
        _as_json(item_id, value),
    )


def _as_json(item_id: str, value: JSON) -> str:
    try:
        return json.dumps(
            value, cls=DjangoJSONEncoder, ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError) as error:
        shown = repr(value)
        shown = shown if len(shown) <= SHOWN_CHARS else f"{shown[:SHOWN_CHARS]}..."
        raise TypeError(
            f"{_tag(item_id)} got the value {shown}, which has no JSON form: {error}. "
            "Give it texts, numbers, dates, lists and dicts, for example "
            "list(orders.values('id', 'total')) from the view."
        ) from error


def _tag(item_id: str) -> str:
    return f'{{% assistant_context "{item_id}" %}}'
