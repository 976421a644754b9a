"""What a card is called, and what its button says: what is done, and to how many."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.utils import model_ngettext
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MOST_FIELDS = 3
NAME_CHARS = 80


def add_title(options: Any) -> str:  # noqa: ANN401 - Django's Options
    """Return "Add order"."""
    return _("Add %(name)s") % {"name": options.verbose_name}


def change_title(options: Any, text: str, labels: Sequence[str]) -> str:  # noqa: ANN401
    """Return "Change status of order “X”"."""
    named = {"name": options.verbose_name, "object": short(text)}
    if not labels:
        return _("Change %(name)s “%(object)s”") % named
    named["fields"] = _fields(labels)
    return _("Change %(fields)s of %(name)s “%(object)s”") % named


def change_many_title(options: Any, count: int, labels: Sequence[str]) -> str:  # noqa: ANN401
    """Return "Change status of 3 orders"."""
    return _("Change %(fields)s of %(objects)s") % {
        "fields": _fields(labels),
        "objects": counted(options, count),
    }


def change_verb(options: Any, count: int) -> str:  # noqa: ANN401
    """Return "Change 3 orders", or "Change order" for one."""
    name = options.verbose_name if count == 1 else counted(options, count)
    return _("Change %(name)s") % {"name": name}


def delete_title(options: Any, count: int, text: str) -> str:  # noqa: ANN401
    """Return "Delete order “X” and 4 more"."""
    named = {"name": options.verbose_name, "object": short(text)}
    if count == 1:
        return _("Delete %(name)s “%(object)s”") % named
    named["count"] = count - 1
    return (
        ngettext(
            "Delete %(name)s “%(object)s” and %(count)d more",
            "Delete %(name)s “%(object)s” and %(count)d more",
            count - 1,
        )
        % named
    )


def delete_verb(options: Any, count: int) -> str:  # noqa: ANN401
    """Return "Delete 3 orders", or "Delete order" for one."""
    name = options.verbose_name if count == 1 else counted(options, count)
    return _("Delete %(name)s") % {"name": name}


def counted(options: Any, count: int) -> str:  # noqa: ANN401
    """Return "3 orders"."""
    name = model_ngettext(options, count)
    return _("%(count)d %(name)s") % {"count": count, "name": name}


def short(text: str) -> str:
    """Return a name that fits into a title."""
    return text if len(text) <= NAME_CHARS else f"{text[: NAME_CHARS - 1]}…"


def _fields(labels: Sequence[str]) -> str:
    unique = list(dict.fromkeys(labels))
    if len(unique) > MOST_FIELDS:
        return ngettext("%(count)d field", "%(count)d fields", len(unique)) % {
            "count": len(unique)
        }
    return str(get_text_list([label.lower() for label in unique], _("and")))
