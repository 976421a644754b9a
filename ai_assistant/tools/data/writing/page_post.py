"""A POST of an admin page through its own view, looked into before the page saves."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from types import MethodType
from typing import Any

from django.contrib.messages import WARNING
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.db import router, transaction
from django.db.models import Model
from django.db.models.signals import (
    ModelSignal,
    post_delete,
    post_save,
    pre_delete,
    pre_save,
)
from django.http import Http404

from ai_assistant.exceptions import ToolFailed
from ai_assistant.modules.resolve import module_of
from ai_assistant.safety.policy.admin_pages import is_overridden, page_response
from ai_assistant.safety.policy.nested_inlines import with_nested
from ai_assistant.tools.adapters.request import page_closed
from ai_assistant.tools.adapters.site_request import has_own_context, through_site
from ai_assistant.tools.data.access.form_classes import with_kept_forms
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.types import RunContext

Formsets = list[Any]


class Stopped(BaseException):
    """The page would be saved now, and is not. No code of the site catches it."""


class PagePost:
    """
    One POST of a page, whose forms can be seen once they are valid.

    The view is called on a copy of its ModelAdmin that tells of its forms; `watch` may
    prepare that copy further. A view that is no method of it is called as it is.
    """

    def __init__(
        self, access: AdminAccess, watch: Callable[[Any], None] | None = None
    ) -> None:
        self.access = access  # with the request that posts
        self.saved: Any = None  # the object
        self._watch = watch
        self._may_save: Callable[[Any, Formsets], bool] = lambda _form, _formsets: True
        self._form: Any = None
        self._formsets: Formsets = []
        self._response: Any = None

    def send(self, may_save: Callable[[Any, Formsets], bool]) -> None:
        """
        Post the page. It ends before it saves if `may_save` says so of its forms.

        Raise ToolFailed if the page is closed, ModelRetry if a value does not fit.
        """
        self._may_save = may_save
        request = self.access.request
        match: Any = request.resolver_match
        view = self._view(match.func)
        try:
            self._response = through_site(request, lambda: page_response(request, view))
        except Stopped:
            return
        except Exception as error:
            if self._form is not None:
                raise  # by code of the site, as it saves
            if isinstance(error, PermissionDenied | Http404):
                raise page_closed() from error
            with wrong_values():
                raise

    def look(self) -> tuple[Any, Formsets]:
        """Return the forms as the page has bound them; nothing is saved."""
        using = router.db_for_write(self.access.model)
        with transaction.atomic(using=using):
            self.send(lambda _form, _formsets: False)
            transaction.set_rollback(True, using=using)
        return self.forms()

    def forms(self) -> tuple[Any, Formsets]:
        """
        Return the form and the formsets of the page, valid or not.

        Raise ToolFailed if the page has answered without them.
        """
        if self._form is not None:
            return self._form, with_nested(self._formsets)
        context = getattr(self._response, "context_data", None) or {}
        admin_form = context.get("adminform")
        admin_formsets = context.get("inline_admin_formsets") or ()
        formsets = self._formsets or [item.formset for item in admin_formsets]
        form = admin_form.form if admin_form is not None else None
        formsets = with_nested(formsets)
        if form is None or not form.is_bound or _is_valid(form, formsets):
            raise page_closed(self.warnings())
        return form, formsets

    def warnings(self) -> str:
        """Return what the page has told in messages that are no success."""
        messages = list(self.access.request._messages)  # type: ignore[attr-defined]
        return " ".join(str(item) for item in messages if item.level >= WARNING)

    def check_redirected(self) -> None:
        """Raise ToolFailed if a page that could not be watched did not save."""
        status = getattr(self._response, "status_code", None)
        if status not in (301, 302, 303):
            raise page_closed(self.warnings())
        if warnings := self.warnings():
            raise ToolFailed(warnings)

    def _view(self, function: Any) -> Any:
        admin = self.access.model_admin
        if not can_watch(self.access):
            return function
        method = function.__wrapped__.__func__
        return admin.admin_site.admin_view(MethodType(method, self._watched()))

    def _watched(self) -> Any:
        """Return a copy of the ModelAdmin: it is shared by all threads."""
        own = copy(with_kept_forms(self.access))
        create_formsets, save_model = own._create_formsets, own.save_model  # noqa: SLF001

        def creating(*args: Any, **kwargs: Any) -> Any:
            formsets, inlines = create_formsets(*args, **kwargs)
            self._formsets = list(formsets)
            return formsets, inlines

        def saving(
            request: Any, obj: Any, form: Any, *args: Any, **kwargs: Any
        ) -> None:
            if self._form is None:
                self._form = form
                if not self._may_save(form, with_nested(self._formsets)):
                    raise Stopped
            save_model(request, obj, form, *args, **kwargs)
            self.saved = obj

        vars(own).update(_create_formsets=creating, save_model=saving)
        if self._watch is not None:
            self._watch(own)
        return own


def can_watch(access: AdminAccess) -> bool:
    """Return whether the view of the page is a method of its ModelAdmin."""
    match: Any = access.request.resolver_match
    method = getattr(match.func, "__wrapped__", None)
    return getattr(method, "__self__", None) is access.model_admin


SAVING = (
    *("save_form", "save_model", "save_formset", "save_related"),
    *("response_add", "response_change", "response_post_save_change"),
)
DELETING = ("delete_model", "delete_queryset", "response_delete")


def may_try_out(access: AdminAccess) -> bool:
    """Return whether its ModelAdmin lets its code run in a trial."""
    return getattr(access.model_admin, "assistant_tries_out", True) is not False


def needs_trial(
    context: RunContext, access: AdminAccess, form: Any, formsets: Formsets
) -> bool:
    """Return whether code of the site may write more as a page is saved, or refuse it."""
    if not may_try_out(access):
        return False
    # Its module sees the whole object only once all is written.
    return module_of(context).validates or _runs_site_code(access, form, formsets)


def _runs_site_code(access: AdminAccess, form: Any, formsets: Formsets) -> bool:
    if has_own_context():
        return True
    if access.is_custom_page() or is_overridden(access.model_admin, *SAVING):
        return True
    if any(map(_saves_in_its_own_way, (form, *formsets))):
        return True
    changed = [item.model for item in formsets if item.has_changed()]
    methods = (Model.save, Model.save_base)
    return any(
        (model.save, model.save_base) != methods
        or _has_receivers(model, pre_save, post_save)
        for model in {type(form.instance), *changed}
    )


FORM_SAVING = ("save", "_save_m2m", "save_new", "save_existing", "delete_existing")
OF_DJANGO = "django."


def _saves_in_its_own_way(form: Any) -> bool:
    """Return whether a form or a formset, or a field of it, has code that saves it."""
    kind, fields = type(form), getattr(form, "fields", ())
    methods = [getattr(kind, name, None) for name in FORM_SAVING]
    options: Any = form._meta.model._meta if fields else None
    for name in fields:
        with suppress(FieldDoesNotExist):
            # Tags, for example, are links, but not those that Django makes.
            field = type(options.get_field(name))
            methods.append(getattr(field, "save_form_data", None))
    return not all(
        one is None or one.__module__.startswith(OF_DJANGO) for one in methods
    )


def deletion_needs_trial(
    context: RunContext, access: AdminAccess, models: Iterable[Any]
) -> bool:
    """Return whether code of the site may do more as rows go, or keep them."""
    if not may_try_out(access):
        return False
    return module_of(context).validates or _deletes_by_site_code(access, models)


def _deletes_by_site_code(access: AdminAccess, models: Iterable[Any]) -> bool:
    if has_own_context():
        return True
    if access.is_custom_page() or is_overridden(access.model_admin, *DELETING):
        return True
    return access.model.delete is not Model.delete or any(
        _has_receivers(model, pre_delete, post_delete) for model in models
    )


def _has_receivers(model: Any, *signals: ModelSignal) -> bool:
    """Return whether the site listens to a signal of a model."""
    receivers = [
        receiver
        for signal in signals
        for group in signal._live_receivers(model)  # noqa: SLF001 - the only way to know them
        for receiver in group
    ]
    own = (OF_DJANGO, "ai_assistant.")
    return any(not getattr(one, "__module__", "").startswith(own) for one in receivers)


def _is_valid(form: Any, formsets: Formsets) -> bool:
    return form.is_valid() and all(formset.is_valid() for formset in formsets)
