"""`{% load assistant %}`: what a template tells the assistant of its page."""

import json

from django import template
from django.core.serializers.json import DjangoJSONEncoder
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ai_assistant.types import JSON

register = template.Library()


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
    TypeError for a value that has no JSON form.
    """
    return format_html(
        '<template data-aia-context="{}" data-aia-description="{}" '
        'data-aia-label="{}" data-aia-auto="{}" data-aia-value="{}"></template>',
        item_id,
        description or item_id,
        label or description or item_id,
        "true" if auto else "false",
        json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False),
    )
