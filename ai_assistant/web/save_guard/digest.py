"""
A signed digest of each field of an admin form, as it was when it was opened.

It is part of the form and is posted with it. A digest is keyed, so that no value can be
guessed from it, and bound to the user, the page, the moment, the row and the field.
"""

import base64
import hmac
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.core.signing import BadSignature, Signer
from django.db.models import ManyToManyField
from django.forms.formsets import DELETION_FIELD_NAME, ORDERING_FIELD_NAME
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict

from ai_assistant.changes.values import label, meta
from ai_assistant.models import clock
from ai_assistant.safety.identity.session import site_key
from ai_assistant.safety.policy.form_limits import unwrapped_widget
from ai_assistant.tools.data.writing.widgets import put_posted_value

NAME = "_aia_opened"  # of the hidden field
DIGEST_BYTES = 6
PURPOSE = "form.digest"
FORMSET_FIELDS = frozenset({DELETION_FIELD_NAME, ORDERING_FIELD_NAME})


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
