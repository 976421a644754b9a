"""The hidden field with the digest: where it goes in a page of the admin."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from django.http import HttpRequest
from django.utils.html import format_html

from ai_assistant.changes.capture.images import object_id
from ai_assistant.changes.values import label, meta
from ai_assistant.web.save_guard.digest import (
    NAME,
    digest_forms,
    field_names,
    read_digest,
)

# The tag whose attributes have this id; quote-aware, as a value may hold ">".
FORM = rb"""<form\b(?=(?:[^>"']|"[^"]*"|'[^']*')*?\sid=["']?%s["'\s>])(?:[^>"']|"[^"]*"|'[^']*')*>"""

# A form in a comment or in a script does not count.
ANY_FORM = re.compile(
    rb"""<!--.*?-->|<(script|style|title|textarea|template)\b.*?</\1|"""
    rb"""(?P<tag><form\b(?:[^>"']|"[^"]*"|'[^']*')*>)(?P<inside>.*?)</form\b""",
    re.IGNORECASE | re.DOTALL,
)
FIELD_NAME = re.compile(r"""\sname=["']?([^"'\s>]+)""", re.IGNORECASE)
OF_A_FORM = ("_change", "_changelist")  # the names of the pages' addresses end so
WITHOUT_FORM = (
    'The template %r of %s has no <form id="%s">, as Django\'s own has, nor is there '
    "only one form that posts fields to the page itself. A Save there may undo what the "
    "assistant changed meanwhile, unnoticed. Give the form this id."
)

logger = logging.getLogger("ai_assistant")
_said: set[tuple[str, str | None]] = set()  # of each model and template, once


def with_digest(request: HttpRequest, response: Any) -> bytes | None:
    """
    Return the page with the token in its form; None if it has no form of rows.

    `response` is rendered: what its form shows is in the context of its template.
    """
    form_id, page_forms, key = _forms_of(getattr(response, "context_data", None) or {})
    if not page_forms:
        return None
    at = _form_of_django(form_id, response) or _only_form(request, response, page_forms)
    if at is None:
        _say_without(request, response, page_forms, form_id)
        return None
    if any(form.is_bound for form in page_forms):
        opened = read_digest(request)  # not saved yet: it is still the first one
        token = opened.token if opened else ""
    else:
        token = digest_forms(request, page_forms, key=key)
    field = hidden_input(token).encode(response.charset) if token else b""
    return bytes(response.content[:at] + field + response.content[at:])


def _form_of_django(form_id: str, response: Any) -> int | None:
    """Return where the opening tag of the form with Django's own id ends."""
    form = re.compile(FORM % re.escape(form_id.encode()), re.IGNORECASE)
    match = form.search(response.content)
    return match.end() if match else None


def _only_form(
    request: HttpRequest,
    response: Any,
    page_forms: Iterable[Any],
) -> int | None:
    """Return where the tag ends of the one form that posts fields of the page to it."""
    names = set(_html_names(page_forms))
    ends = [
        form.end("tag")
        for form in ANY_FORM.finditer(response.content)
        if form["tag"]
        and _posts_here(request, form["tag"].decode(response.charset))
        and _has_one_of(names, form["inside"].decode(response.charset))
    ]
    return ends[0] if len(ends) == 1 else None


def _html_names(page_forms: Iterable[Any]) -> Iterator[str]:
    for form in page_forms:
        for name in field_names(form):
            yield form[name].html_name


class _Tag(HTMLParser):
    """Reads the attributes of a tag."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.attributes: dict[str, str | None] = {}
        self.feed(tag)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes = dict(attrs)


def _posts_here(request: HttpRequest, tag: str) -> bool:
    attributes = _Tag(tag).attributes
    url = request.get_full_path()
    target = urlsplit(urljoin(url, attributes.get("action") or ""))
    is_here = not target.netloc and unquote(target.path) == unquote(urlsplit(url).path)
    return is_here and (attributes.get("method") or "").lower() == "post"


def _has_one_of(names: set[str], inside: str) -> bool:
    posted = set(FIELD_NAME.findall(inside))
    parts = {name.rpartition("_")[0] for name in posted}  # a day and its time
    return "csrfmiddlewaretoken" in posted and not names.isdisjoint(posted | parts)


def _say_without(
    request: HttpRequest,
    response: Any,
    page_forms: Sequence[Any],
    form_id: str,
) -> None:
    """Log, once for each model and template, that saves there are not compared."""
    view = getattr(request.resolver_match, "url_name", None) or ""
    is_whole = view.endswith(OF_A_FORM) and b"<body" in response.content
    if not is_whole or not any(_html_names(page_forms)):
        return
    template = response.resolve_template(response.template_name).template.name
    model = label(page_forms[0].instance)
    if (model, template) not in _said:
        _said.add((model, template))
        logger.warning(WITHOUT_FORM, template, model, form_id)


def hidden_input(token: str) -> str:
    """Return the hidden field with the token; the browser must not fill it in."""
    return format_html(
        '<input type="hidden" name="{}" value="{}" autocomplete="off">', NAME, token
    )


def _forms_of(context: Mapping[str, Any]) -> tuple[str, list[Any], str]:
    """Return the id of a page's form, its forms of rows, and the key of its object."""
    if "adminform" in context and context.get("original") is not None:
        page_forms = [context["adminform"].form]
        for inline in context.get("inline_admin_formsets", ()):
            page_forms += inline.formset.initial_forms
        row = context["original"]
        form_id = f"{meta(row).model_name}_form"
        return form_id, page_forms, object_id(type(row), row.pk)
    formset = getattr(context.get("cl"), "formset", None)
    return "changelist-form", [] if formset is None else formset.initial_forms, ""
