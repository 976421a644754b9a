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
from ai_assistant.safety.policy.nested_inlines import with_nested
from ai_assistant.safety.policy.sensitive import is_read_only
from ai_assistant.tools.data.access.form_classes import with_kept_forms
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    check_distinguishable,
    is_closed_inline,
    links_of,
)
from ai_assistant.tools.data.writing.harvest import (
    ID_WORDS,
    PageForm,
    PageFormset,
    is_django_form,
    page_form,
)
from ai_assistant.tools.data.writing.page_post import (
    Formsets,
    PagePost,
    can_watch,
    needs_trial,
)
from ai_assistant.tools.data.writing.posting import (
    boolean_from_words,
    check_names,
    post_form,
    post_values,
)
from ai_assistant.types import RunContext

MOST_ROWS = 200  # of one call, over all inlines
ROWS_NAMED = 20

Row = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class FormSubmission:
    """
    A posted page of the admin, not saved yet.

    `obj` is the object as it is, or None for a new one. The form is the one that the
    page shows, and the posted one from `is_valid` on: then `form.instance` is what the
    object becomes.
    """

    access: AdminAccess  # with the request that posts
    obj: Model | None
    form: Any
    model_admin: Any = None  # whose form it is, if not that of the access
    named_fields: dict[str, Collection[str]] = field(default_factory=dict)  # by prefix
    formsets: Formsets = field(default_factory=list)

    @property
    def adds(self) -> bool:
        """Whether the object is a new one."""
        return self.obj is None

    @property
    def data(self) -> QueryDict:
        """What is posted."""
        return self.access.request.POST

    @property
    def can_watch(self) -> bool:
        """Whether its page can be looked into as it is posted."""
        own = self.access.model_admin
        return can_watch(self.access) and self.model_admin in (None, own)

    def has_changed(self) -> bool:
        """Return whether the page changes anything."""
        return any(form.has_changed() for form in (self.form, *self.formsets))

    def is_valid(self) -> bool:
        """Return whether the page would be saved. Nothing is written."""
        if not self.form.is_bound:
            self._bind()
        form_is_valid = self.form.is_valid()
        if not (all_valid(self.formsets) and form_is_valid):
            return False
        self.restore_untouched()
        return True

    def needs_trial(self, context: RunContext) -> bool:
        """Return whether code of the site may write more as it is saved, or refuse it."""
        return needs_trial(context, self.access, self.form, self.formsets)

    def take(self, form: Any, formsets: Formsets) -> None:
        """Take the forms as the page has bound them."""
        self.form, self.formsets = form, formsets

    def restore_untouched(self) -> None:
        """Give the fields that the call does not name their exact old values."""
        if self.obj is not None:
            _restore(self.form, self.named_fields.get("", ()), self.obj)
        for formset in self.formsets:
            for form in formset.initial_forms:
                if form.has_changed():
                    _restore(form, self.named_fields.get(form.prefix, ()))

    def _bind(self) -> None:
        if self.can_watch and not is_django_form(self.access):
            self.take(*PagePost(self.access).look())
            return
        request = self.access.request
        admin = self.model_admin
        if admin in (None, self.access.model_admin):
            admin = with_kept_forms(self.access)
        form_class = admin_form_class(admin, request, self.obj)
        instance = copy(self.obj) if self.obj else None
        form = form_class(self.data, request.FILES, instance=instance)
        create = admin._create_formsets  # noqa: SLF001 - as the page itself does
        formsets, _inlines = create(request, form.instance, change=not self.adds)
        self.take(form, with_nested(formsets))


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
    page = page_form(access, obj)
    if obj is not None and type(page.form.instance) is not type(obj):
        obj = copy(page.form.instance)  # of a child, which the page shows
    check_names(page.form, page.names, values, page.model_admin or access.model_admin)
    post_form(data, page.form, page.names)
    post_values(data, page.form, values)
    if obj is None:
        page.prepopulate(data, values)
    rows = InlineRows(access=posted, obj=obj, data=data)
    rows.post(page.formsets, inlines or {})
    data["_save"] = "1"  # the button
    return FormSubmission(
        access=posted,
        obj=obj,
        form=page.form,
        model_admin=page.model_admin,
        named_fields={"": values.keys(), **rows.named_fields},
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
    # A choice that the page does not offer is dropped by it, too, and on the card.
    is_chosen = column.is_relation or column.flatchoices
    is_plain = column.concrete and not (is_chosen or column.primary_key)
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


@dataclass(kw_only=True, slots=True)
class InlineRows:
    """The rows of inlines, posted with a page."""

    access: AdminAccess  # with the request that posts `data`
    obj: Model | None
    data: QueryDict
    number: int = 0  # of rows that were given, those within rows too
    named_fields: dict[str, Collection[str]] = field(default_factory=dict)  # by prefix

    def post(
        self, formsets: list[PageFormset], rows_by_name: dict[str, list[Row]]
    ) -> None:
        """
        Post the inlines as they are, with the rows of `rows_by_name` in their place.

        By prefix or model. A row with an id changes that one, with a true DELETE
        removes it, else is a new one. Raise ModelRetry if that may not, or cannot, be.
        """
        self.number += sum(map(len, rows_by_name.values()))
        if self.number > MOST_ROWS:
            raise ModelRetry(f"Give {MOST_ROWS} rows of inlines at most in one call.")
        by_prefix = _by_prefix(formsets, rows_by_name)
        for formset in formsets:
            rows = by_prefix.get(formset.prefix, [])
            if rows:
                self._check_open(formset.formset.model, formset.inline)
            self._post_old(formset, [row for row in rows if _row_id(row)])
            total = self._post_new(formset, [row for row in rows if not _row_id(row)])
            for name, number in formset.counts(total).items():
                self.data[f"{formset.prefix}-{name}"] = str(number)

    def _post_old(self, formset: PageFormset, rows: list[Row]) -> None:
        by_id = {_row_id(row): row for row in rows}
        for old in formset.rows:
            row = by_id.pop(str(old.form.instance.pk), None)
            if row is None:
                self._post_row(formset, old, {})
                continue
            self._check_open(old.form._meta.model, old.model_admin)
            if boolean_from_words(row.get(DELETION_FIELD_NAME)) is True:
                self._check(formset, "delete", is_possible=formset.has_deletion)
                self._post_row(formset, old, {})
                self.data[old.form.add_prefix(DELETION_FIELD_NAME)] = "on"
            else:
                self._check(formset, "change")
                self._post_row(formset, old, row)
        for unknown in by_id:
            ids = [str(old.form.instance.pk) for old in formset.rows[:ROWS_NAMED]]
            raise ModelRetry(
                f"There is no {_name(formset.inline)} with the id {unknown[:100]!r} "
                f"on this page. Ids: {', '.join(ids) or 'none'}."
            )

    def _post_new(self, formset: PageFormset, rows: list[Row]) -> int:
        """Post new rows as a person fills them in; return the number of all rows."""
        start, extra = len(formset.rows), len(formset.extra)
        if rows:
            self._check(formset, "add")
        if rows and start + len(rows) > formset.formset.max_num:
            raise ModelRetry(
                f"{_name(formset.inline)}: {start + len(rows)} rows are too many. "
                f"{formset.formset.max_num} can be there at most."
            )
        for number, row in enumerate(rows, start):
            new = formset.new_row(number, row)
            if new is None:
                self._check(formset, "add", is_possible=False)
            else:
                self._check_open(new.form._meta.model, new.model_admin)
                self._post_row(formset, new, row, is_new=True)
        for blank in formset.extra[len(rows) :]:
            self._post_row(formset, blank, {})
        return start + max(extra, len(rows))

    def _post_row(
        self, formset: PageFormset, page: PageForm, row: Row, *, is_new: bool = False
    ) -> None:
        nested = {
            name: rows for name, rows in row.items() if _is_rows(page, name, rows)
        }
        values = {
            name: value
            for name, value in row.items()
            if name not in page.not_fields and name not in nested
        }
        form = page.form
        if values:
            ties = {DELETION_FIELD_NAME, *_ties(form)}
            shown = [item for item in page.names if item not in ties]
            check_names(form, shown, values, page.model_admin)
            self.named_fields[form.prefix] = values.keys()
        post_form(self.data, form, page.names)
        post_values(self.data, form, values)
        if is_new:
            page.prepopulate(self.data, values)
        if page.formsets:
            self.post(page.formsets, nested)

    def _check_open(self, model: type[Model], inline: Any) -> None:
        """Raise ModelRetry or ToolFailed if no tool writes rows of this class there."""
        is_kept = is_read_only(model, inline) or any(
            map(self._is_kept, links_of(model))
        )
        if is_kept or is_closed_inline(self.access.site, inline):
            raise ModelRetry(f"{_name(inline)!r} is kept from the assistant.")
        check_distinguishable(model)

    def _is_kept(self, field: Any) -> bool:
        """Return whether the site declares a many-to-many field read-only."""
        own = self.access.site._registry.get(field.model)
        return is_read_only(field.model, own, field.name)

    def _check(
        self, formset: PageFormset, action: str, *, is_possible: bool = True
    ) -> None:
        may = getattr(formset.inline, f"has_{action}_permission")
        if not (is_possible and may(self.access.request, self.obj)):
            raise ModelRetry(
                f"The user may not {action} {_name(formset.inline)!r} here."
            )


def _ties(form: Any) -> set[str]:
    """Return the fields that link a row to its page: its id, the key of its parent."""
    key = form._meta.model._meta.pk.name
    return {
        name
        for name, form_field in form.fields.items()
        if isinstance(form_field, InlineForeignKeyField)
        or (name == key and isinstance(form_field, ModelChoiceField))
    }


def _is_rows(page: PageForm, name: str, rows: Any) -> bool:
    """Return whether a value of a row is for an inline below it."""
    return (
        isinstance(rows, list)
        and name not in page.form.fields
        and name.lower() in _prefixes(page.formsets)
    )


def _by_prefix(
    formsets: list[PageFormset], rows_by_name: dict[str, list[Row]]
) -> dict[str, list[Row]]:
    """Return the rows by the prefix of their formset, given by prefix or model."""
    prefixes = _prefixes(formsets)
    by_prefix: dict[str, list[Row]] = {}
    for name, rows in rows_by_name.items():
        if name.lower() not in prefixes:
            names = ", ".join(formset.prefix for formset in formsets)
            raise ModelRetry(
                f"There is no inline {name[:100]!r} on this page. "
                f"Inlines: {names or 'none'}."
            )
        by_prefix.setdefault(prefixes[name.lower()], []).extend(rows)
    return by_prefix


def _prefixes(formsets: list[PageFormset]) -> dict[str, str]:
    """Return the prefix of each formset by the names under which it may be given."""
    prefixes: dict[str, str] = {}
    for formset in formsets:
        options = formset.formset.model._meta
        own_name = formset.formset.get_default_prefix()
        for name in (options.label_lower, options.model_name, own_name):
            prefixes.setdefault(name.lower(), formset.prefix)
    return prefixes | {item.prefix.lower(): item.prefix for item in formsets}


def _row_id(row: Row) -> str:
    """Return the id of an existing row, or an empty text."""
    return str(next((row[word] for word in ID_WORDS if row.get(word)), ""))


def _name(inline: Any) -> str:
    return str(inline.verbose_name)
