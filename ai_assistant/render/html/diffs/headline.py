"""One line that says what a run has changed: to the main object, or to how many."""

from collections.abc import Mapping, Sequence

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.values import ObjectChange, model_name
from ai_assistant.text.hidden_characters import mark_hidden_characters

VALUE_CHARS = 40  # of a value that is said
MOST_VALUES = 2  # fields whose values are said
MOST_SUMS = 3

Counts = Mapping[tuple[str, str], int]  # objects, by model and kind of the change


def headline(objects: Sequence[ObjectChange], counts: Counts) -> SafeString:
    """
    Return "Exit interview: status published → archived, +1 updated along".

    What is written first is what it was about. Of several objects of its model it is
    said how many were changed: "16 schedules changed".
    """
    total = sum(counts.values())
    main = next((one for one in objects if one.kind != "link"), None)
    if main is None or _of_model(main.model, counts) > 1:
        return mark_hidden_characters(_sums(counts))
    said = _said(main)
    if total > 1:
        said += ngettext(
            ", +%(count)d updated along", ", +%(count)d updated along", total - 1
        ) % {"count": total - 1}
    return mark_hidden_characters(said)


def _of_model(model: str, counts: Counts) -> int:
    return sum(count for (own, _kind), count in counts.items() if own == model)


def _said(one: ObjectChange) -> str:
    name = one.text or f"{model_name(one.model)} #{one.object_id}"
    if one.kind == "create":
        return _("%(object)s: added") % {"object": name}
    if one.kind == "delete":
        return _("%(object)s: deleted") % {"object": name}
    fields = [one for one in one.fields if one.before != one.after]
    short = [
        one for one in fields if max(len(one.before), len(one.after)) <= VALUE_CHARS
    ]
    values = [
        f"{one.label.lower()} {one.before or _('empty')} → {one.after or _('empty')}"
        for one in short[:MOST_VALUES]
    ]
    others = [one.label.lower() for one in fields if one not in short[:MOST_VALUES]]
    if not values:
        names = ", ".join(others) or _("changed")
        return f"{name}: {names}"
    more = (
        ngettext("%(count)d more field", "%(count)d more fields", len(others))
        % {"count": len(others)}
        if others
        else ""
    )
    return f"{name}: {', '.join(filter(None, [*values, more]))}"


def _sums(counts: Counts) -> str:
    """Return "16 schedules changed, 2 questions added"."""
    patterns = {
        "create": _("%(count)d %(name)s added"),
        "change": _("%(count)d %(name)s changed"),
        "delete": _("%(count)d %(name)s deleted"),
        "link": _("%(count)d %(name)s linked"),
    }
    largest = sorted(counts.items(), key=lambda item: -item[1])
    sums = [
        patterns[kind] % {"count": count, "name": model_name(model, plural=count != 1)}
        for (model, kind), count in largest[:MOST_SUMS]
    ]
    more = ["…"] if len(largest) > MOST_SUMS else []
    return ", ".join([*sums, *more])
