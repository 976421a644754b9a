"""`{% load aia %}`: what the panel's own templates ask of the page around them."""

from django import template
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ai_assistant.web.panel.layout import bridge

register = template.Library()


@register.simple_tag
def aia_bridge() -> str:
    """Return the static file of the theme's bridge sheet, or nothing."""
    return bridge()


@register.simple_tag(takes_context=True)
def aia_nonce(context: Context) -> SafeString | str:
    """Return ` nonce="..."` if the page has a content security policy with one."""
    request = getattr(context, "request", None)
    # django-csp's, or Django's own; either is made when it is read.
    nonce = getattr(request, "csp_nonce", "") or getattr(request, "_csp_nonce", None)
    said = "" if nonce is None else str(nonce)
    return format_html(' nonce="{}"', said) if said else ""
