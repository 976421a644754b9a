"""
The forms that the page of an object shows to the user, walked as its template does.

Where the page is Django's own they are made as its view makes them; else they are those
of the response of the view, which is not rendered.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import AdminForm, InlineAdminFormSet
from django.contrib.admin.utils import flatten_fieldsets
from django.db.models import Model
from django.forms import BaseModelForm
from django.forms.formsets import DELETION_FIELD_NAME
from django.http import QueryDict

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.nested_inlines import nested_in_form
from ai_assistant.tools.adapters.request import page_closed
from ai_assistant.tools.data.access.form_classes import (
    child_models,
    with_forms_of_a_page,
)
from ai_assistant.tools.data.access.model_admin import AdminAccess

ID_WORDS = ("id", "pk")
KIND = "model"  # in a new row, where the page has several classes of it
NOT_FIELDS = frozenset({*ID_WORDS, DELETION_FIELD_NAME})  # in a row of an inline
SLUG_CHARS = 50  # of a field without a limit, as the admin has it
# 'ä': 'a' up to Django 6.0, ä: "a" from 6.1 on.
LETTER = re.compile(r"""['"]?([^\x00-\x7f])['"]?: ['"]([^'"]*)['"]""")
SCRIPT = Path(admin.__file__).parent / "static" / "admin" / "js" / "urlify.js"


@dataclass(kw_only=True, slots=True)
class PageForm:
    """A form on a page, and which of its fields have an input there."""

    form: Any
    names: list[str]
    model_admin: Any  # whose form it is: of a child, on the page of some parents
    prepopulated: dict[str, list[str]] = field(default_factory=dict)  # from others
    formsets: list["PageFormset"] = field(default_factory=list)  # below it
    not_fields: frozenset[str] = NOT_FIELDS  # of what is given for a row

    def prepopulate(self, data: QueryDict, given: Collection[str]) -> None:
        """
        Put what the script of the admin makes of other fields, as a slug of the title.

        It does so in an empty field, once a person has filled in one of the others.
        """
        for name, sources in self.prepopulated.items():
            bound = self.form[name]
            is_touched = name in given or not {*sources} & {*given}
            if is_touched or data.get(bound.html_name):
                continue
            texts = [data.get(self.form[source].html_name) or "" for source in sources]
            data[bound.html_name] = urlify(
                " ".join(filter(None, texts)),
                max_length=getattr(bound.field, "max_length", None) or SLUG_CHARS,
                allow_unicode=getattr(bound.field, "allow_unicode", False),
            )

    def moved(self, prefix: str) -> "PageForm":
        """Return a copy whose inputs have another prefix, and those of rows below."""
        form, old = copy(self.form), self.form.prefix
        form.prefix = prefix
        form._bound_fields_cache = {}  # noqa: SLF001 - they have the old names
        below = [
            formset.moved(prefix + formset.prefix.removeprefix(old))
            for formset in self.formsets
        ]
        return replace(self, form=form, formsets=below)


@dataclass(kw_only=True, slots=True)
class PageFormset:
    """The rows of an inline on a page."""

    formset: Any
    inline: Any
    prefix: str
    has_deletion: bool  # whether its rows have a box that deletes them
    rows: list[PageForm] = field(default_factory=list)
    extra: list[PageForm] = field(default_factory=list)
    # What the page copies for a further row, one for each class. Takes long to make.
    empty: Callable[[], list[PageForm]] = list

    def moved(self, prefix: str) -> "PageFormset":
        """Return a copy without rows, whose inputs have another prefix."""
        extra = [
            row.moved(prefix + row.form.prefix.removeprefix(self.prefix))
            for row in self.extra
        ]
        return replace(self, prefix=prefix, rows=[], extra=extra)

    def new_row(self, number: int, given: Mapping[str, Any]) -> PageForm | None:
        """
        Return the new row of this number; None if the page has none for it.

        What is `given` for it says of which class it is, where there are several.
        """
        place = number - len(self.rows)
        if place < len(self.extra):
            return self.extra[place]
        if not self.empty():
            return None
        empty = self._empty_for(given)
        prefix = f"{self.prefix}-{number}"
        row = replace(empty, formsets=[]).moved(prefix)
        for below in empty.formsets:
            # "pieces-empty-marks", "pieces-__prefix__-marks": as packages name it.
            name = below.prefix.removeprefix(f"{self.formset.prefix}-")
            row.formsets.append(below.moved(f"{prefix}-{name.partition('-')[2]}"))
        if len(self.empty()) > 1 and KIND not in row.form.fields:
            row.not_fields = NOT_FIELDS | {KIND}
        return row

    def _empty_for(self, given: Mapping[str, Any]) -> PageForm:
        forms = {one.form._meta.model._meta.label_lower: one for one in self.empty()}
        kind = str(given.get(KIND, "")).lower()
        if kind in forms:
            return forms[kind]
        fitting = [one for one in forms.values() if {*given} <= {*one.names}]
        if len(forms) > 1 and len(fitting) != 1:
            raise ModelRetry(
                f"A new row of {self.prefix!r} is one of {', '.join(forms)}. Say which "
                f"by {KIND!r} beside its fields."
            )
        return fitting[0] if len(forms) > 1 else next(iter(forms.values()))

    def counts(self, total: int) -> dict[str, int]:
        """Return the counts that the page posts, with `total` rows."""
        return {
            "TOTAL_FORMS": total,
            "INITIAL_FORMS": len(self.rows),
            "MIN_NUM_FORMS": self.formset.min_num,
            "MAX_NUM_FORMS": self.formset.max_num,
        }


def is_django_form(access: AdminAccess) -> bool:
    """Return whether the page, which has a form, is Django's own in all parts."""
    return not (
        access.is_custom_page()
        or is_overridden(access.model_admin, "render_change_form")
    )


def page_form(access: AdminAccess, obj: Model | None) -> PageForm:
    """
    Return the form of the page of `obj`, or of a new object, with its inlines.

    `access` has the request of that page. Raise ToolFailed if it shows no form of a
    model, ModelRetry if it asks for a child of the model first.
    """
    if is_django_form(access):
        admin_form, admin_formsets = _own_forms(access, obj)
    else:
        context = access.page_context()
        admin_form = context.get("adminform")
        admin_formsets = context.get("inline_admin_formsets") or []
        form = getattr(admin_form, "form", None)
        if not isinstance(form, BaseModelForm):
            raise _no_form(access, obj)
    return _walked(admin_form, admin_formsets)


def _no_form(access: AdminAccess, obj: Model | None) -> Exception:
    """Return the error for a page without a form of the model."""
    children = child_models(access) if obj is None else []
    if not children:
        return page_closed()
    return ModelRetry(
        f"{access.label!r} is added as one of its child models: "
        f"{', '.join(children)}. Call again with one of these."
    )


def _own_forms(access: AdminAccess, obj: Model | None) -> tuple[Any, list[Any]]:
    own, request, adds = with_forms_of_a_page(access), access.request, obj is None
    fieldsets = list(own.get_fieldsets(request, obj))
    names = flatten_fieldsets(fieldsets)
    form_class = own.get_form(request, obj, change=not adds, fields=names)
    if obj is None:
        form = form_class(initial=own.get_changeform_initial_data(request))
    else:
        form = form_class(instance=copy(obj))
    create = own._create_formsets  # noqa: SLF001 - as the page itself does
    formsets, inlines = create(request, form.instance, change=not adds)
    may_edit = adds or own.has_change_permission(request, obj)
    admin_form = AdminForm(
        form,
        fieldsets,
        own.get_prepopulated_fields(request, obj) if may_edit else {},
        own.get_readonly_fields(request, obj) if may_edit else names,
        model_admin=access.model_admin,
    )
    return admin_form, own.get_inline_formsets(request, formsets, inlines, obj)


# --- as the templates walk them ---


def _walked(admin_form: Any, admin_formsets: Any) -> PageForm:
    form = admin_form.form
    return PageForm(
        form=form,
        names=list(dict.fromkeys(_input_names(admin_form))),
        model_admin=admin_form.model_admin,
        prepopulated={
            item["field"].name: [bound.name for bound in item["dependencies"]]
            for item in admin_form.prepopulated_fields
            if item["field"].form is form  # not of a row below it
        },
        formsets=[_rows(admin_formset) for admin_formset in admin_formsets],
    )


def _input_names(admin_form: Any) -> Iterator[str]:
    for fieldset in admin_form:
        for line in fieldset:
            for item in line:
                if not item.is_readonly:
                    yield item.field.name


def _rows(admin_formset: Any) -> PageFormset:
    formset = admin_formset.formset
    may_delete = getattr(admin_formset, "has_delete_permission", True)
    found = PageFormset(
        formset=formset,
        inline=admin_formset.opts,
        prefix=formset.prefix,
        has_deletion=bool(formset.can_delete and may_delete),
    )
    numbered = {id(form) for form in formset.forms}
    every = iter(admin_formset)
    # In Django's own the empty one is the last.
    is_django = type(admin_formset) is InlineAdminFormSet
    empty: list[PageForm] = []
    for admin_row in islice(every, len(numbered)) if is_django else every:
        row = _row(admin_row)
        if id(row.form) not in numbered:
            empty.append(row)
        elif admin_row.original is not None:
            found.rows.append(row)
        else:
            found.extra.append(row)
    found.empty = cache(lambda: [*empty, *map(_row, every)])
    return found


def _row(admin_row: Any) -> PageForm:
    row = _walked(admin_row, nested_in_form(admin_row.form))
    row.names = list(dict.fromkeys([*row.names, *_ties(admin_row)]))
    return row


def _ties(admin_row: Any) -> Iterator[str]:
    """Yield the hidden inputs of a row: its own key, that of its parent, its class."""
    if admin_row.needs_explicit_pk_field():
        yield admin_row.pk_field().field.name
    if link := getattr(admin_row.formset, "fk", None):
        yield link.name
    for name, form_field in admin_row.form.fields.items():
        # As `pk_field` in Django; django-polymorphic adds one.
        if form_field.widget.is_hidden and hasattr(admin_row, f"{name}_field"):
            yield name


# --- as the script of the page fills it in ---


def urlify(text: str, *, max_length: int, allow_unicode: bool) -> str:
    """Return what `URLify` of Django's urlify.js makes of `text`."""
    if not allow_unicode:
        plain = _downcode_map()
        text = "".join(plain.get(one, one) for one in text)
    flags = re.UNICODE if allow_unicode else re.ASCII
    text = re.sub(r"[^-\w\s]", "", text.lower(), flags=flags)
    return re.sub(r"[-\s]+", "-", text.strip())[:max_length].rstrip("-")


@cache
def _downcode_map() -> dict[str, str]:
    """Return the letters that have another in ASCII, as the script itself has them."""
    script = SCRIPT.read_text(encoding="utf-8")
    return dict(LETTER.findall(script))
