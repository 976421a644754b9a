"""The forms of many objects, made fast: what they share is made once."""

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

from django import forms
from django.contrib.admin.options import BaseModelAdmin, ModelAdmin
from django.contrib.admin.utils import flatten, flatten_fieldsets
from django.db.models import Model
from django.forms.models import apply_limit_choices_to_to_formfield
from django.http import QueryDict

from ai_assistant.safety.policy.form_limits import admin_form_class
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.writing.posting import (
    check_names,
    laid_value,
    post_form,
    put_posted_value,
)
from ai_assistant.tools.data.writing.submission import FormSubmission, Values

# What a ModelAdmin may decide by the object.
ASKED = ("get_fieldsets", "get_fields", "get_readonly_fields", "get_exclude")


class RowForms:
    """
    Makes the form of each of many objects, with the same values laid over.

    It is that of the object's own page. There are no inlines, as where the list of
    the admin edits. A class is made once for all objects that have the same one.
    """

    def __init__(self, door: AdminAccess, values: Values) -> None:
        self.door, self.values = door, values  # the request posts already
        own = type(door.model_admin)
        self.is_own_form = own.get_form is not ModelAdmin.get_form
        self.says = [name for name in ASKED if _is_own(own, name)]
        self.known: dict[Any, Any] = {}

    def submission(self, obj: Model) -> FormSubmission:
        """Return the page of `obj`. Raise ModelRetry as `submission` does."""
        form_class = self._class(obj)
        data, files = QueryDict(mutable=True), self.door.request.FILES
        is_plain = isinstance(form_class.base_fields, SharedFields)
        if is_plain:
            form = source = form_class(data, files, instance=copy(obj))
        else:  # code of the site may look at the data as soon as the form is made
            source = form_class(instance=copy(obj))
            check_names(source, self.values)
        post_form(data, source)
        for name, value in self.values.items():
            own = source.fields[name]
            put_posted_value(
                data, source.add_prefix(name), own, laid_value(source, name, value)
            )
        if not is_plain:
            form = form_class(data, files, instance=copy(obj))
        return FormSubmission(
            door=self.door,
            obj=obj,
            form=form,
            given={"": self.values.keys()},
            is_whole_page=False,
        )

    def _class(self, obj: Model) -> Any:
        if self.is_own_form:
            return self._made(obj)
        key = tuple(self._answer(name, obj) for name in self.says)
        if key not in self.known:
            self.known[key] = self._shared(self._made(obj), obj)
        return self.known[key]

    def _made(self, obj: Model) -> Any:
        return admin_form_class(self.door.model_admin, self.door.request, obj)

    def _answer(self, name: str, obj: Model) -> Any:
        said = getattr(self.door.model_admin, name)(self.door.request, obj)
        if name == "get_fieldsets":
            return tuple(flatten_fieldsets(said))
        return tuple(flatten(said)) if said else ()

    def _shared(self, form_class: Any, obj: Model) -> Any:
        """Return the class with fields that all its forms share, if they may."""
        if not _is_plain(form_class):
            return form_class
        check_names(form_class(instance=copy(obj)), self.values)
        form_class.base_fields = SharedFields(form_class.base_fields)
        for field in form_class.base_fields.values():
            if isinstance(field, forms.ModelChoiceField):
                # Each form would do it again, upon what the last one left.
                apply_limit_choices_to_to_formfield(field)
                field.limit_choices_to = None
            if type(field) is forms.ModelChoiceField:
                shared: Any = field
                shared.to_python = _remembered(field.to_python)
        return form_class


class SharedFields(dict[str, forms.Field]):
    """Fields that a form takes as they are, instead of a copy of its own."""

    def __deepcopy__(self, _memo: dict[int, Any]) -> "SharedFields":
        return self


def _is_own(admin_class: type, name: str) -> bool:
    return getattr(admin_class, name) is not getattr(BaseModelAdmin, name)


def _is_plain(form_class: type) -> bool:
    """Tell whether the form has no code of the site, which may change its fields."""
    return not any(
        callable(found) or isinstance(found, property | classmethod | staticmethod)
        for one in form_class.__mro__
        if not one.__module__.startswith("django.") and one is not object
        for name, found in vars(one).items()
        if name != "Meta"
    )


def _remembered(look_up: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let a thousand forms ask once for the object that they all choose."""
    return cache(look_up)
