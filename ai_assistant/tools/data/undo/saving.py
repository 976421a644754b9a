"""Saving of an undo through the ModelAdmin, where that asks for it."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any, TypeVar

from django.apps import apps
from django.db.models import Model
from django.http import HttpRequest

from ai_assistant.safety.policy.form_limits import admin_form_class
from ai_assistant.tools.adapters.site_request import through_site
from ai_assistant.tools.data.access.model_admin import AdminAccess, access_of
from ai_assistant.tools.data.access.sites import asking_request
from ai_assistant.tools.data.undo.pages import (
    as_its_admin_has_it,
    posted,
    with_proxies,
)

T = TypeVar("T")

BY_ADMIN = "admin"  # ModelAdmin.assistant_undo


@contextmanager
def in_revision(user: Any, comment: str) -> Iterator[None]:
    """Let django-reversion, if the site has it, keep what the block saves."""
    if not apps.is_installed("reversion"):
        yield
        return
    reversion = importlib.import_module("reversion")
    with reversion.create_revision():
        reversion.set_user(user)
        reversion.set_comment(comment)
        yield


def as_writing(user: Any, work: Callable[[], T]) -> T:
    """Do `work` within a request of `user`, for what asks who writes."""
    return _posted_as(asking_request(user), work)


def _posted_as(asking: HttpRequest, work: Callable[[], T]) -> T:
    request = copy(asking)
    request.method = "POST"
    request.META = {**request.META, "REQUEST_METHOD": "POST"}
    return through_site(request, work)


class AdminSaver:
    """
    Saves and deletes what an undo restores as `save_model` and `delete_model` do.

    Those of a ModelAdmin with `assistant_undo = "admin"`; other models have none here.
    """

    def __init__(self, user: Any) -> None:
        self._user = user
        self._asking = asking_request(user)
        self._accesses: dict[Any, AdminAccess | None] = {}

    def as_writing(self, work: Callable[[], T]) -> T:
        """Do `work`, which may call this one, within a request of the user."""
        return _posted_as(self._asking, work)

    def save(self, instance: Model, values: Mapping[str, Any], *, is_new: bool) -> bool:
        """Save an instance with these new values, by attname; False if it does not."""
        access = self._access(type(instance))
        if access is None:
            return False
        page = access.at_page("add") if is_new else access.at_object(instance.pk)
        page, shown = posted(page), as_its_admin_has_it(instance, access)
        form = admin_form_class(page.model_admin, page.request, shown)(instance=shown)
        names = {field.attname: field.name for field in shown._meta.concrete_fields}
        changed = [names[attname] for attname in values]
        form.cleaned_data = {name: getattr(shown, name) for name in changed}
        vars(form)["changed_data"] = changed
        page.model_admin.save_model(page.request, shown, form, not is_new)
        return True

    def delete(self, instance: Model) -> bool:
        """Delete an object; False if its admin does not ask for it."""
        access = self._access(type(instance))
        if access is None:
            return False
        page = posted(access.at_object(instance.pk, "delete"))
        shown = as_its_admin_has_it(instance, access)
        page.model_admin.delete_model(page.request, shown)
        return True

    def _access(self, model: Any) -> AdminAccess | None:
        if model not in self._accesses:
            found = (self._access_to(one) for one in with_proxies(model))
            self._accesses[model] = next(
                (
                    one
                    for one in found
                    if one is not None
                    and getattr(one.model_admin, "assistant_undo", "") == BY_ADMIN
                ),
                None,
            )
        return self._accesses[model]

    def _access_to(self, model: Any) -> AdminAccess | None:
        # No other request may come in between: middlewares would forget that of the undo.
        return access_of(self._user, model, asking=self._asking)
