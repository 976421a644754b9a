"""
A signed digest of each field of an admin form, as it was when it was opened.

It is part of the form and is posted with it. A digest is keyed, so that no value can be
guessed from it, and bound to the user, the page, the moment, the row and the field.
"""

import base64
import hmac
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.core.signing import BadSignature, Signer
from django.db.models import ManyToManyField
from django.forms.formsets import DELETION_FIELD_NAME, ORDERING_FIELD_NAME
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html

from ai_assistant.changes.capture.images import object_id
from ai_assistant.changes.values import label, meta
from ai_assistant.models import clock
from ai_assistant.safety.identity.session import site_key
from ai_assistant.safety.policy.form_limits import unwrapped_widget
from ai_assistant.tools.data.writing.widgets import put_posted_value

NAME = "_aia_opened"  # of the hidden field
DIGEST_BYTES = 6
PURPOSE = "form.digest"
FORMSET_FIELDS = frozenset({DELETION_FIELD_NAME, ORDERING_FIELD_NAME})
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """The digests that the person's form was opened with, and when."""

    at: datetime
    key: str  # of the object, as changes are recorded; empty: a list
    digests: frozenset[bytes]
    token: str
    secret: bytes

    def had(self, form: Any, name: str, value: Any) -> bool:
        """Return whether the field was opened with this value."""
        return _digest(self.secret, form, name, value) in self.digests


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


def digest_forms(request: HttpRequest, page_forms: Iterable[Any], *, key: str) -> str:
    """Return the token of these forms as their rows are now, by the clock of changes."""
    stamp = f"{int(clock.nearly_now().timestamp() * 1000)}"
    secret = _secret(settings.SECRET_KEY, request, stamp)
    digests = b"".join(
        _digest(secret, form, name, held_value(form, name))
        for form in page_forms
        for name in field_names(form)
    )
    encoded = base64.urlsafe_b64encode(digests).decode().rstrip("=")
    return Signer(salt=_salt(request)).sign(f"{stamp}:{encoded}:{key}")


def read_digest(request: HttpRequest) -> Opened | None:
    """Return what the posted form was opened with; None if missing or forged."""
    token = request.POST.get(NAME, "")
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        signer = Signer(key=secret, salt=_salt(request), fallback_keys=[])
        try:
            stamp, encoded, key = signer.unsign(token).split(":", 2)
            digests = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        except (BadSignature, ValueError):
            continue
        starts = range(0, len(digests), DIGEST_BYTES)
        return Opened(
            at=datetime.fromtimestamp(int(stamp) / 1000, UTC),
            key=key,
            digests=frozenset(digests[at : at + DIGEST_BYTES] for at in starts),
            token=token,
            secret=_secret(secret, request, stamp),
        )
    return None


def field_names(form: Any) -> Iterator[str]:
    """Yield the names of the fields that a post of the form can write."""
    if form.instance.pk is None:
        return
    for name, field in form.fields.items():
        column = model_field(form, name)
        is_key = isinstance(field, forms.models.InlineForeignKeyField) or (
            column is not None and getattr(column, "primary_key", False)
        )
        if not (field.disabled or is_key or name in FORMSET_FIELDS):
            yield name


def model_field(form: Any, name: str) -> Any:
    """Return the model field that the form field writes; None if there is none."""
    try:
        field = meta(form.instance).get_field(name)
    except FieldDoesNotExist:
        return None
    is_own = getattr(field, "concrete", False) and hasattr(field, "formfield")
    # Tags are kept as generic rows, and posted as one text: as what only a form has.
    has_links = not field.many_to_many or isinstance(field, ManyToManyField)
    return field if is_own and has_links else None


def held_value(form: Any, name: str, row: Any = None) -> Any:
    """Return the value a browser would post for the stored row, or for `row`."""
    bound = form[name]
    value = _held(form, name, row or form.instance)
    if isinstance(bound.field, forms.FileField):
        return str(value or "")
    data = QueryDict(mutable=True)
    put_posted_value(
        data, bound.html_name, bound.field, bound.field.prepare_value(value)
    )
    return _read(bound, data, MultiValueDict())


def posted_value(form: Any, name: str) -> Any:
    """Return the posted value of the field, as `held_value` returns it."""
    return _read(form[name], form.data, form.files)


def _held(form: Any, name: str, row: Any) -> Any:
    """Return the row's value, even if the page's code shows something else."""
    field = model_field(form, name)
    if field is None or field.many_to_many:
        return form[name].initial
    if field.attname in row.get_deferred_fields():
        return form[name].initial
    value = field.value_from_object(row)
    widget = form.fields[name].widget
    if isinstance(value, datetime | time) and not widget.supports_microseconds:
        return value.replace(microsecond=0)  # as Django does
    return value


def _read(bound: Any, data: Any, files: Any) -> Any:
    value = unwrapped_widget(bound.field.widget).value_from_datadict(
        data, files, bound.html_name
    )
    is_set = isinstance(
        bound.field, forms.MultipleChoiceField | forms.ModelMultipleChoiceField
    )
    return _plain(value, is_set=is_set)


def _plain(value: Any, *, is_set: bool = False) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in value]
        return sorted(items, key=str) if is_set else items
    # A text area posts each new line as two characters.
    return str(value).replace("\r\n", "\n").strip()


def _digest(secret: bytes, form: Any, name: str, value: Any) -> bytes:
    payload = json.dumps([label(form.instance), str(form.instance.pk), name, value])
    return hmac.digest(secret, payload.encode(), "sha256")[:DIGEST_BYTES]


def _secret(key: str | bytes, request: HttpRequest, stamp: str) -> bytes:
    bound = f"{_salt(request)}:{stamp}"
    return hmac.digest(site_key(key, PURPOSE), bound.encode(), "sha256")


def _salt(request: HttpRequest) -> str:
    return f"ai_assistant.{PURPOSE}:{request.user.pk}:{request.path}"
