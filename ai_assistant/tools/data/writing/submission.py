"""The page of one object as it would be posted: its form, its inlines, its request."""

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import FileField, Model
from django.forms.formsets import DELETION_FIELD_NAME, all_valid
from django.forms.models import InlineForeignKeyField, ModelChoiceField
from django.http import HttpRequest, QueryDict

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.form_limits import admin_form_class, unwrapped_widget
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    check_distinguishable,
    is_closed,
)
from ai_assistant.tools.data.writing.posting import (
    boolean_from_words,
    check_names,
    post_form,
    post_values,
)

ID_WORDS = ("id", "pk")
NOT_A_FIELD = {*ID_WORDS, DELETION_FIELD_NAME}  # in a row of an inline
MOST_ROWS = 200  # of one call, over all inlines
ROWS_NAMED = 20

Row = dict[str, Any]
Formsets = list[tuple[Any, Any]]  # each with its inline


# --- the page ---


@dataclass(kw_only=True, slots=True)
class FormSubmission:
    """
    A posted page of the admin, not saved yet.

    `obj` is the object as it is, or None for a new one; the form has a copy of it,
    and `form.instance` is what the object becomes once `is_valid` was called.
    """

    access: AdminAccess  # with the request that posts
    obj: Model | None
    form: Any
    named_fields: dict[str, Collection[str]] = field(default_factory=dict)  # by prefix
    formsets: list[Any] = field(default_factory=list)

    @property
    def adds(self) -> bool:
        """Whether the object is a new one."""
        return self.obj is None

    def has_changed(self) -> bool:
        """Return whether the page changes anything."""
        return any(form.has_changed() for form in (self.form, *self.formsets))

    def is_valid(self) -> bool:
        """Return whether the page would be saved. Nothing is written."""
        form_is_valid = self.form.is_valid()
        if not (all_valid(self.formsets) and form_is_valid):
            return False
        if self.obj is not None:
            _restore(self.form, self.named_fields.get("", ()), self.obj)
        for formset in self.formsets:
            for form in formset.initial_forms:
                if form.has_changed():
                    _restore(form, self.named_fields.get(form.prefix, ()))
        return True


def form_submission(
    access: AdminAccess,
    obj: Model | None,
    values: dict[str, Any],
    inlines: dict[str, list[Row]] | None = None,
) -> FormSubmission:
    """
    Return the page of `obj`, or of a new object, with `values` in place of its own.

    `access` has the request of that page. Raise ModelRetry if one of them may not be
    given.
    """
    data = QueryDict(mutable=True)
    posted = with_post(access, data)
    form_class = admin_form_class(posted.model_admin, posted.request, obj)
    if obj is not None:
        unbound = form_class(instance=copy(obj))
    else:
        initial = access.model_admin.get_changeform_initial_data(access.request)
        unbound = form_class(initial=initial)
    check_names(unbound, values)
    post_form(data, unbound)
    post_values(data, unbound, values)
    rows = InlineRows(request=posted.request, obj=obj, data=data)
    rows.post(_formsets(access, unbound.instance, obj), inlines or {})
    data["_save"] = "1"  # the button
    form = form_class(data, posted.request.FILES, instance=copy(obj) if obj else None)
    return FormSubmission(
        access=posted,
        obj=obj,
        form=form,
        named_fields={"": values.keys(), **rows.named_fields},
        formsets=[formset for formset, _ in _formsets(posted, form.instance, obj)],
    )


def with_post(access: AdminAccess, data: QueryDict) -> AdminAccess:
    """Return the access with a request that posts `data` to the same page."""
    request: HttpRequest = copy(access.request)
    request.method, request.POST = "POST", data  # type: ignore[assignment]
    request.META = {**request.META, "REQUEST_METHOD": "POST"}
    return replace(access, request=request)


def posting_list(
    access: AdminAccess, form: dict[str, str], objects: Iterable[Model]
) -> AdminAccess:
    """Return the access with a request that posts `form` for objects of the list."""
    data = QueryDict(mutable=True)
    data.update(form)
    data.setlist(ACTION_CHECKBOX_NAME, [str(obj.pk) for obj in objects])
    return with_post(access, data)


def _formsets(access: AdminAccess, instance: Model, obj: Model | None) -> Formsets:
    """Return the formsets of the page, bound if it is posted, with their inlines."""
    create = access.model_admin._create_formsets  # noqa: SLF001 - as the page itself does
    formsets, inlines = create(access.request, instance, change=obj is not None)
    return list(zip(formsets, inlines, strict=True))


# --- fields that the call does not name ---


def _restore(form: Any, posted: Collection[str], before: Model | None = None) -> None:
    """
    Restore the values of the fields of a valid form that are not in `posted`.

    What the code of the site sets stays: only a value that is just what the form
    made of the old one is restored. `before` is the object as it was; without it, the
    form's own initial values count.
    """
    other_names = {name for name in form.fields if name not in posted}
    restored = {name for name in other_names if _restore_field(form, name, before)}
    form.changed_data = [name for name in form.changed_data if name not in restored]


def _restore_field(form: Any, name: str, before: Model | None) -> bool:
    """Return whether the column holds, perhaps again, its old value."""
    try:
        column = form._meta.model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    is_plain = column.concrete and not (column.many_to_many or column.primary_key)
    has_old = before is not None or name in form.initial
    if isinstance(column, FileField) or not (is_plain and has_old):
        return False
    old = form.initial[name] if before is None else getattr(before, column.attname)
    new = getattr(form.instance, column.attname)
    if old == new:
        return True
    # What the form makes of the old value, which it has posted.
    posted = unwrapped_widget(form.fields[name].widget).value_from_datadict(
        form.data, form.files, form.add_prefix(name)
    )
    try:
        cleaned = form.fields[name].clean(posted)
    except ValidationError:
        return False
    if new != (cleaned.pk if isinstance(cleaned, Model) else cleaned):
        return False
    setattr(form.instance, column.attname, old)
    return True


# --- inlines ---


@dataclass(frozen=True, kw_only=True, slots=True)
class InlineRows:
    """The rows of inlines, posted with a page."""

    request: HttpRequest  # which posts `data`
    obj: Model | None
    data: QueryDict
    named_fields: dict[str, Collection[str]] = field(default_factory=dict)  # by prefix

    def post(self, formsets: Formsets, rows_by_name: dict[str, list[Row]]) -> None:
        """
        Post the inlines as they are, with the rows of `rows_by_name` in their place.

        The names are prefixes or models; a row with an id changes that one, with a
        true DELETE removes it, and without an id is a new one. Raise ModelRetry if
        the user may not do it, or there is no such row.
        """
        if sum(map(len, rows_by_name.values())) > MOST_ROWS:
            raise ModelRetry(f"Give {MOST_ROWS} rows of inlines at most in one call.")
        by_prefix = _by_prefix(formsets, rows_by_name)
        for formset, inline in formsets:
            rows = by_prefix.get(formset.prefix, [])
            is_opted_out = getattr(inline, "assistant", True) is False
            if rows and (is_closed(formset.model) or is_opted_out):
                raise ModelRetry(f"{_name(inline)!r} is kept from the assistant.")
            if rows:
                check_distinguishable(formset.model)
            self._post_old(formset, inline, [row for row in rows if _row_id(row)])
            new = [row for row in rows if not _row_id(row)]
            self._post_new(formset, inline, new)
            count = formset.initial_form_count()
            for name, number in {
                "TOTAL_FORMS": count + len(new),
                "INITIAL_FORMS": count,
                "MIN_NUM_FORMS": formset.min_num,
                "MAX_NUM_FORMS": formset.max_num,
            }.items():
                self.data[f"{formset.prefix}-{name}"] = str(number)

    def _post_old(self, formset: Any, inline: Any, rows: list[Row]) -> None:
        by_id = {}
        for form in formset.initial_forms:
            post_form(self.data, form)
            by_id[str(form.instance.pk)] = form
        for row in rows:
            form = by_id.get(_row_id(row))
            if form is None:
                ids = ", ".join([*by_id][:ROWS_NAMED]) or "none"
                raise ModelRetry(
                    f"There is no {_name(inline)} with the id {_row_id(row)[:100]!r} "
                    f"on this page. Ids: {ids}."
                )
            if boolean_from_words(row.get(DELETION_FIELD_NAME)) is True:
                self._check(inline, "delete", is_possible=formset.can_delete)
                self.data[form.add_prefix(DELETION_FIELD_NAME)] = "on"
            else:
                self._check(inline, "change")
                self._post_row(form, row)

    def _post_new(self, formset: Any, inline: Any, rows: list[Row]) -> None:
        if not rows:
            return
        self._check(inline, "add")
        start = formset.initial_form_count()
        if start + len(rows) > formset.max_num:
            raise ModelRetry(
                f"{_name(inline)}: {start + len(rows)} rows are too many. "
                f"{formset.max_num} can be there at most."
            )
        for number, row in enumerate(rows, start):
            form = formset.empty_form  # a new one at each access
            form.prefix = formset.add_prefix(number)
            post_form(self.data, form)
            self._post_row(form, row)

    def _post_row(self, form: Any, row: Row) -> None:
        key = form._meta.model._meta.pk.name
        # These link a row to its page: its id, and the key of its parent.
        ties = {
            name
            for name, form_field in form.fields.items()
            if isinstance(form_field, InlineForeignKeyField)
            or (name == key and isinstance(form_field, ModelChoiceField))
        }
        values = {name: row[name] for name in row if name not in NOT_A_FIELD}
        check_names(form, values, fixed={DELETION_FIELD_NAME, *ties})
        self.named_fields[form.prefix] = values.keys()
        post_values(self.data, form, values)

    def _check(self, inline: Any, action: str, *, is_possible: bool = True) -> None:
        may = getattr(inline, f"has_{action}_permission")
        if not (is_possible and may(self.request, self.obj)):
            raise ModelRetry(f"The user may not {action} {_name(inline)!r} here.")


def _by_prefix(
    formsets: Formsets, rows_by_name: dict[str, list[Row]]
) -> dict[str, list[Row]]:
    """Return the rows by the prefix of their formset, given by prefix or model."""
    prefixes: dict[str, str] = {}
    for formset, _inline in formsets:
        options = formset.model._meta
        prefixes.setdefault(options.label_lower, formset.prefix)
        prefixes.setdefault(options.model_name, formset.prefix)
    prefixes |= {formset.prefix.lower(): formset.prefix for formset, _ in formsets}
    by_prefix: dict[str, list[Row]] = {}
    for name, rows in rows_by_name.items():
        if name.lower() not in prefixes:
            names = ", ".join(formset.prefix for formset, _inline in formsets)
            raise ModelRetry(
                f"There is no inline {name[:100]!r} on this page. "
                f"Inlines: {names or 'none'}."
            )
        by_prefix.setdefault(prefixes[name.lower()], []).extend(rows)
    return by_prefix


def _row_id(row: Row) -> str:
    """Return the id of an existing row, or an empty text."""
    return str(next((row[word] for word in ID_WORDS if row.get(word)), ""))


def _name(inline: Any) -> str:
    return str(inline.verbose_name)
