"""The page of one object as it would be posted: its form, its inlines, its request."""

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import FileField, Model
from django.forms.formsets import all_valid
from django.http import HttpRequest, QueryDict

from ai_assistant.safety.policy.form_limits import admin_form_class
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.writing.inlines import Inlines, Row
from ai_assistant.tools.data.writing.posting import (
    check_names,
    laid_value,
    post_form,
    put_posted_value,
    unwrapped_widget,
)


def keep_rest(form: Any, given: Collection[str], before: Model | None = None) -> None:
    """
    Give fields of a valid form that nobody has `given` their values back.

    What the code of the site sets stays: only a value that is just what the form
    made of the old one is taken back. `before` is the object as it was; None: it is
    read from the form's own initial values.
    """
    kept = {name for name in form.fields if name not in given}
    kept = {name for name in kept if _keep(form, name, before)}
    form.changed_data = [name for name in form.changed_data if name not in kept]


def _keep(form: Any, name: str, before: Model | None) -> bool:
    """Tell whether the column still holds, perhaps again, what it did."""
    try:
        field = form._meta.model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    if not field.concrete or field.many_to_many or field.primary_key:
        return False
    if isinstance(field, FileField) or (before is None and name not in form.initial):
        return False
    old, new = _old(form, field, before), getattr(form.instance, field.attname)
    if old == new:
        return True
    if new != _returned(form, name):
        return False
    setattr(form.instance, field.attname, old)
    return True


def _old(form: Any, field: Any, before: Model | None) -> Any:
    if before is not None:
        return getattr(before, field.attname)
    return form.initial[field.name]


def _returned(form: Any, name: str) -> Any:
    """Return what the field makes of what was posted for it, as an attribute."""
    field = form.fields[name]
    data = unwrapped_widget(field.widget).value_from_datadict(
        form.data, form.files, form.add_prefix(name)
    )
    try:
        cleaned = field.clean(data)
    except ValidationError:
        return _returned
    return cleaned.pk if isinstance(cleaned, Model) else cleaned


Values = dict[str, Any]


@dataclass(kw_only=True, slots=True)
class FormSubmission:
    """
    A posted page of the admin, not saved yet.

    `obj` is the object as it is, or None for a new one; the form has a copy of its
    own. `form.instance` is what it becomes once `is_valid` was asked.
    """

    door: AdminAccess  # with the request that posts
    obj: Model | None
    form: Any
    is_whole_page: bool = True  # else a form of the list, without inlines
    given: dict[str, Collection[str]] = field(default_factory=dict)  # by prefix
    formsets: list[Any] = field(default_factory=list)
    inlines: list[Any] = field(default_factory=list)  # of `formsets`

    @property
    def adds(self) -> bool:
        """Whether the object is a new one."""
        return self.obj is None

    def has_changed(self) -> bool:
        """Tell whether anything of the page differs from what is there."""
        return any(one.has_changed() for one in (self.form, *self.formsets))

    def is_valid(self) -> bool:
        """Tell whether the page would be saved. Nothing is written."""
        form_is_valid = self.form.is_valid()
        if not (all_valid(self.formsets) and form_is_valid):
            return False
        if self.obj is not None:
            keep_rest(self.form, self.given.get("", ()), self.obj)
        for formset in self.formsets:
            for one in formset.initial_forms:
                if one.has_changed():
                    keep_rest(one, self.given.get(one.prefix, ()))
        return True


def form_submission(
    door: AdminAccess,
    obj: Model | None,
    values: Values,
    inlines: dict[str, list[Row]] | None = None,
) -> FormSubmission:
    """
    Return the page of `obj`, or of a new object, with `values` laid over its own.

    `door` has the request of that page. Raise ModelRetry if something of it may not
    be given.
    """
    data = QueryDict(mutable=True)
    posted = with_post(door, data)
    made = admin_form_class(posted.model_admin, posted.request, obj)
    shown = _unbound(door, made, obj)
    check_names(shown, values)
    post_form(data, shown)
    for name, value in values.items():
        own = shown.fields[name]
        put_posted_value(
            data, shown.add_prefix(name), own, laid_value(shown, name, value)
        )
    page = Inlines(request=posted.request, obj=obj, data=data)
    page.post(_formsets(door, shown.instance, obj), inlines or {})
    data["_save"] = "1"  # the button
    form = made(data, posted.request.FILES, instance=copy(obj) if obj else None)
    given = {"": values.keys(), **page.given}
    found = FormSubmission(door=posted, obj=obj, form=form, given=given)
    for formset, inline in _formsets(posted, form.instance, obj):
        found.formsets.append(formset)
        found.inlines.append(inline)
    return found


def with_post(door: AdminAccess, data: QueryDict) -> AdminAccess:
    """Return the door with a request that posts `data` to the same page."""
    request: HttpRequest = copy(door.request)
    request.method, request.POST = "POST", data  # type: ignore[assignment]
    request.META = {**request.META, "REQUEST_METHOD": "POST"}
    return replace(door, request=request)


def posting_list(
    door: AdminAccess, form: dict[str, str], objects: Iterable[Model]
) -> AdminAccess:
    """Return the door with a request that posts `form` for objects of the list."""
    data = QueryDict(mutable=True)
    data.update(form)
    data.setlist(ACTION_CHECKBOX_NAME, [str(one.pk) for one in objects])
    return with_post(door, data)


def _unbound(door: AdminAccess, form_class: Any, obj: Model | None) -> Any:
    if obj is not None:
        return form_class(instance=copy(obj))
    initial = door.model_admin.get_changeform_initial_data(door.request)
    return form_class(initial=initial)


def _formsets(
    door: AdminAccess, instance: Model, obj: Model | None
) -> list[tuple[Any, Any]]:
    """Return the formsets of the page, bound if the request posts, and their inlines."""
    made = door.model_admin._create_formsets  # noqa: SLF001 - as the page itself does
    return list(zip(*made(door.request, instance, change=obj is not None), strict=True))
