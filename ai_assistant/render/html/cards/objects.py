"""The card of an object that an answer names, as the person may see it in the admin."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import UUIDField
from django.utils.text import Truncator, capfirst

from ai_assistant.context.opened import admin_of, admin_summary, opened_object
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import is_withheld
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.tools.data.access.values import object_name, shown_value

Entry = dict[str, Any]

MOST_FIELDS = 6
CHARS = 120  # of one value


def object_entry(path: str, user: Any) -> Entry | None:
    """
    Return what `object_card.html` draws of the object whose page is at `path`.

    None if `user` may not open that page, or if its code fails. The fields are those
    of the admin's form; what is kept from the assistant is not among them.
    """
    page = find_page(path)
    if page is None or page.model_admin is None or page.info.action != "change":
        return None
    return value_or(
        None, lambda: _entry(page, user), "the object at %r cannot be shown", path
    )


def _entry(page: SitePage, user: Any) -> Entry | None:
    opened = opened_object(page, user)
    if opened is None:
        return None
    kind = capfirst(str(opened._meta.verbose_name))
    name = f"{kind} {opened.pk}" if is_withheld(page) else object_name(opened)
    return {
        "kind": kind,
        "name": mark_hidden_characters(name),
        "fields": [
            {
                "label": label,
                "text": mark_hidden_characters(Truncator(text).chars(CHARS)),
            }
            for label, text in _fields(page, user, opened)
        ][:MOST_FIELDS],
    }


def _fields(page: SitePage, user: Any, opened: Any) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each field that has a value."""
    name = object_name(opened)
    options = admin_of(page, opened).opts
    for key, value in admin_summary(page, user, opened).items():
        try:
            field = options.get_field(key)
        except FieldDoesNotExist:  # shown by the form alone
            label, text = key, "" if value is None else str(value)
        else:
            if isinstance(field, UUIDField):
                continue  # it says nothing to a person
            label, text = str(field.verbose_name), _text(field, value, opened)
        if text and text != name:
            yield capfirst(label), text


def _text(field: Any, value: Any, opened: Any) -> str:
    if isinstance(value, dict) and field.is_relation:  # a name that may be kept back
        return str(value.get("text") or value.get("id") or "")
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return shown_value(field, opened)
