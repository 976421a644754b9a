"""`{% load assistant %}`: what a template tells the assistant of its page."""

import json

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.safety.identity.permissions import may_view
from ai_assistant.types import JSON
from ai_assistant.web.injection import drawn_parts
from ai_assistant.web.middleware import has_addresses, wants_panel

register = template.Library()

SHOWN_CHARS = 200  # of a value in an error


@register.simple_tag(takes_context=True)
def ai_assistant(context: Context) -> SafeString:
    """
    Put the panel into this page, for pages that the middleware leaves alone.

    Best first thing in the body; deeper in the page, it covers what it would push
    aside. Nothing where the panel does not belong: in a popup or a frame, or if the
    user may not see it. The middleware adds no second one.
    Raise ImproperlyConfiguredAssistant without a request in the context.
    """
    request = context.get("request")
    if request is None:
        raise ImproperlyConfiguredAssistant(
            "{% ai_assistant %} found no request in the template's context. Add "
            "'django.template.context_processors.request' to the context_processors, "
            "and render the template with the request."
        )
    if not (wants_panel(request) and may_view(request.user) and has_addresses()):
        return SafeString()
    return format_html("{}{}{}", *drawn_parts(request))


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
            f"{{% assistant_context %}} got the id {item_id!r}. Give a string of its "
            'own first, in quotes: {% assistant_context "cart" cart %}.'
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
        text = repr(value)
        text = text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}..."
        raise TypeError(
            f"{_tag(item_id)} got the value {text}, which is not JSON serializable: "
            f"{error}. Give it strings, numbers, dates, lists and dicts, for example "
            "list(orders.values('id', 'total')) from the view."
        ) from error


def _tag(item_id: str) -> str:
    return f'{{% assistant_context "{item_id}" %}}'
