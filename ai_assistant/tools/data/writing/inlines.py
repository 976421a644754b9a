"""The inlines of a posted page: the rows as they are, and what is given for them."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model
from django.forms.formsets import DELETION_FIELD_NAME
from django.forms.models import InlineForeignKeyField, ModelChoiceField
from django.http import HttpRequest, QueryDict

from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.data.access.model_admin import check_told, is_closed
from ai_assistant.tools.data.writing.posting import (
    boolean_from_words,
    check_names,
    laid_value,
    post_form,
    put_posted_value,
)

ID_WORDS = ("id", "pk")
MOST_ROWS = 200  # of one call, over all inlines
MOST_NAMED = 20

Row = dict[str, Any]
Formsets = list[tuple[Any, Any]]  # unbound, each with its inline


@dataclass(frozen=True, kw_only=True, slots=True)
class Inlines:
    """The page to which inlines are posted."""

    request: HttpRequest
    obj: Model | None
    data: QueryDict
    given: dict[str, Collection[str]] = field(default_factory=dict)  # by prefix

    def post(self, formsets: Formsets, given: dict[str, list[Row]]) -> None:
        """
        Add what a browser would post of the inlines, with `given` laid over.

        `given` is by prefix or by model; a row with an id changes that one, with a
        true DELETE removes it, and without an id is a new one. Raise ModelRetry if
        the user may not do it, or there is no such row.
        """
        if sum(map(len, given.values())) > MOST_ROWS:
            raise ModelRetry(f"Give {MOST_ROWS} rows of inlines at most in one call.")
        wanted = _by_prefix(formsets, given)
        for formset, inline in formsets:
            rows = wanted.get(formset.prefix, [])
            if rows and (is_closed(formset.model) or _is_opted_out(inline)):
                raise ModelRetry(f"{_named(inline)!r} is kept from the assistant.")
            if rows:
                check_told(formset.model)
            self._old(formset, inline, [row for row in rows if _row_id(row)])
            new = [row for row in rows if not _row_id(row)]
            self._new(formset, inline, new)
            self._management(formset, len(new))

    def _old(self, formset: Any, inline: Any, rows: list[Row]) -> None:
        for form in formset.initial_forms:
            post_form(self.data, form)
        by_id = {str(form.instance.pk): form for form in formset.initial_forms}
        for row in rows:
            form = by_id.get(_row_id(row))
            if form is None:
                known = ", ".join([*by_id][:MOST_NAMED]) or "none"
                raise ModelRetry(
                    f"There is no {_named(inline)} with the id {_row_id(row)[:100]!r} "
                    f"on this page. Ids: {known}."
                )
            if boolean_from_words(row.get(DELETION_FIELD_NAME)) is True:
                self._check(inline, "delete", is_possible=formset.can_delete)
                self.data[form.add_prefix(DELETION_FIELD_NAME)] = "on"
            else:
                self._check(inline, "change")
                self._lay(form, row)

    def _new(self, formset: Any, inline: Any, rows: list[Row]) -> None:
        start = formset.initial_form_count()
        if rows:
            self._check(inline, "add")
        if rows and start + len(rows) > formset.max_num:
            raise ModelRetry(
                f"{_named(inline)}: {start + len(rows)} rows are too many. "
                f"{formset.max_num} can be there at most."
            )
        for number, row in enumerate(rows, start):
            form = formset.empty_form  # made anew each time it is asked for
            form.prefix = formset.add_prefix(number)
            post_form(self.data, form)
            self._lay(form, row)

    def _lay(self, form: Any, row: Row) -> None:
        words = (*ID_WORDS, DELETION_FIELD_NAME)
        values = {name: value for name, value in row.items() if name not in words}
        check_names(form, values, fixed={DELETION_FIELD_NAME, *_ties(form)})
        self.given[form.prefix] = values.keys()
        for name, value in values.items():
            own = form.fields[name]
            put_posted_value(
                self.data, form.add_prefix(name), own, laid_value(form, name, value)
            )

    def _management(self, formset: Any, new: int) -> None:
        old = formset.initial_form_count()
        for name, number in {
            "TOTAL_FORMS": old + new,
            "INITIAL_FORMS": old,
            "MIN_NUM_FORMS": formset.min_num,
            "MAX_NUM_FORMS": formset.max_num,
        }.items():
            self.data[f"{formset.prefix}-{name}"] = str(number)

    def _check(self, inline: Any, what: str, *, is_possible: bool = True) -> None:
        may = getattr(inline, f"has_{what}_permission")
        if not (is_possible and may(self.request, self.obj)):
            raise ModelRetry(f"The user may not {what} {_named(inline)!r} here.")


def _by_prefix(formsets: Formsets, given: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return the rows by the prefix of their formset, however they were named."""
    names: dict[str, str] = {}
    for formset, _inline in formsets:
        options = formset.model._meta
        names.setdefault(options.label_lower, formset.prefix)
        names.setdefault(options.model_name, formset.prefix)
    names |= {formset.prefix.lower(): formset.prefix for formset, _inline in formsets}
    found: dict[str, list[Row]] = {}
    for name, rows in given.items():
        if name.lower() not in names:
            known = ", ".join(formset.prefix for formset, _inline in formsets)
            raise ModelRetry(
                f"There is no inline {name[:100]!r} on this page. "
                f"Inlines: {known or 'none'}."
            )
        found.setdefault(names[name.lower()], []).extend(rows)
    return found


def _ties(form: Any) -> set[str]:
    """Return the fields that tie a row to its page: its id, and the key of its parent."""
    key = form._meta.model._meta.pk.name
    return {
        name
        for name, field in form.fields.items()
        if isinstance(field, InlineForeignKeyField)
        or (name == key and isinstance(field, ModelChoiceField))
    }


def _row_id(row: Row) -> str:
    """Return the id of a row that is there already, or an empty text."""
    return str(next((row[word] for word in ID_WORDS if row.get(word)), ""))


def _is_opted_out(inline: Any) -> bool:
    return getattr(inline, "assistant", True) is False


def _named(inline: Any) -> str:
    return str(inline.verbose_name)
