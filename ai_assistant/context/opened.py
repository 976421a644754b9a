"""The object of a page, loaded as the admin would load it for this user."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets, quote
from django.contrib.auth.mixins import (
    AccessMixin,
    LoginRequiredMixin,
    PermissionRequiredMixin,
    UserPassesTestMixin,
)
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import ForeignKey, ManyToManyField, Model
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language

from ai_assistant.context.page import SitePage, admin_sites, find_page
from ai_assistant.context.provided import is_withheld, is_withheld_model
from ai_assistant.request_context import below_prefix, request_meta
from ai_assistant.safety.policy.admin_pages import (
    VIEWS,
    is_overridden,
    is_own_page,
    page_opens,
    shown_page,
)
from ai_assistant.safety.policy.form_limits import (
    form_language,
    form_limited_fields,
    form_only_names,
    form_only_values,
    names_value,
)
from ai_assistant.safety.policy.nested_inlines import (
    MOST_LEVELS,
    is_withheld_inline,
    nested_formsets,
)
from ai_assistant.safety.policy.sensitive import is_sensitive_field, masked_in
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import short_value

MAX_FIELDS = 40
MAX_KEYS = 10  # that are loaded with the object
MAX_CHARS = 2000  # of one field
MAX_TAGS = 100  # of one field


def page_request(page: SitePage, user: Any) -> HttpRequest:
    """Return a GET request for the page as `user`, to pass to ModelAdmin methods."""
    request = HttpRequest()
    request.method, request.user = "GET", user
    request.LANGUAGE_CODE = get_language()  # as `LocaleMiddleware` sets it
    request.resolver_match = page.match
    request.path = page.info.path.partition("?")[0]
    request.path_info = below_prefix(request.path) or request.path
    request.META = request_meta(request)
    request.GET = page.query  # type: ignore[assignment] # nobody writes to it
    return request


def opened_object(page: SitePage, user: Any) -> Model | None:
    """Return the object of the page, or None if `user` may not see one."""
    admin, object_id = page.model_admin, page.info.object_id
    if admin is None or not object_id:
        return None
    request = page_request(page, user)
    if not _site_admits(page, request):
        return None
    # Which of them are shown, only the form knows, and building it takes long.
    keys = [field.name for field in admin.opts.concrete_fields if _is_key(field)]
    related = keys[:MAX_KEYS]
    queryset = admin.get_queryset(request)
    if related:
        queryset = queryset.select_related(*related)
    try:
        obj = queryset.filter(pk=admin.opts.pk.to_python(object_id)).first()
    except (ValidationError, ValueError):
        return None
    if obj is None or not admin.has_view_or_change_permission(request, obj):
        return None
    return _as_shown(page, request, obj)


def _as_shown(page: SitePage, request: HttpRequest, obj: Model | None) -> Model | None:
    """
    Return the object as the page of the site shows it, None if that does not open.

    A page that is code of the site may show a child of it, as that of
    django-polymorphic does.
    """
    admin, object_id = page.model_admin, page.info.object_id
    if is_overridden(admin, "get_object"):
        obj = admin.get_object(request, object_id)  # perhaps in another language
    if obj is None:
        return None
    action = page.info.action
    if action not in VIEWS or not is_own_page(admin, request, action):  # type: ignore[arg-type] # known
        return obj
    if action != "change":
        return obj if page_opens(admin, request) else None
    response = shown_page(admin, request)
    if response is None:
        return None
    admin_form = (response.context_data or {}).get("adminform")
    shown = getattr(getattr(admin_form, "form", None), "instance", None)
    is_child = isinstance(shown, type(obj)) and shown.pk == obj.pk
    return shown if is_child else obj


def _form_opens(page: SitePage, user: Any, opened: Model) -> bool:
    """Return whether the form of the page's object opens, on its own page."""
    if page.info.action == "change":
        return True  # it was asked with the object
    form = _form_page(page)
    if form is None or form.model_admin is not page.model_admin:
        return False
    return _as_shown(form, page_request(form, user), opened) is not None


def _form_page(page: SitePage) -> SitePage | None:
    options = page.model_admin.opts
    name = f"{page.match.namespace}:{options.app_label}_{options.model_name}_change"
    try:
        return find_page(reverse(name, args=(quote(page.info.object_id),)))
    except NoReverseMatch:
        return None


def may_open(page: SitePage, user: Any, opened: Model | None) -> bool:
    """
    Return whether the page opens for `user`.

    This is known for admin pages and for class-based views with an access mixin; the
    providers of a function view must check for themselves.
    """
    admin, request = page.model_admin, page_request(page, user)
    if not _site_admits(page, request):
        return False
    if admin is None:
        return _view_admits(page, user)
    if page.info.object_id:
        return opened is not None
    if page.info.action == "add":
        return bool(admin.has_add_permission(request))
    return bool(admin.has_view_or_change_permission(request))


def may_open_page(page: SitePage, user: Any) -> bool:
    """Return whether `user` may open the page; not if its own code fails."""
    return value_or(
        False,
        lambda: may_open(page, user, opened_object(page, user)),
        "whether %r may be opened is not known",
        page.info.path,
    )


def _site_admits(page: SitePage, request: HttpRequest) -> bool:
    """Return whether the AdminSite of the page, if it is of one, lets the user in."""
    site = getattr(page.model_admin or page.view, "admin_site", None)
    sites = [site] if site else admin_sites(page.match)
    return all(site.has_permission(request) for site in sites)


def _view_admits(page: SitePage, user: Any) -> bool:
    view_class = getattr(page.view, "view_class", None)
    if not (isinstance(view_class, type) and issubclass(view_class, AccessMixin)):
        return True
    # The site may declare that Django's mixins decide alone.
    vouches = getattr(view_class, "assistant_admits", False) is True
    if _checks_itself(view_class) and not vouches:
        return False
    view: Any = view_class(**getattr(page.view, "view_initkwargs", {}))
    view.setup(page_request(page, user), *page.match.args, **page.match.kwargs)
    return all(_mixins_admit(view, user))


def _mixins_admit(view: Any, user: Any) -> Iterator[bool]:
    """Yield what each of Django's access mixins says; in a request all are asked."""
    if isinstance(view, LoginRequiredMixin):
        yield bool(user.is_authenticated)
    if isinstance(view, PermissionRequiredMixin):
        yield bool(view.has_permission())
    if isinstance(view, UserPassesTestMixin):
        yield bool(view.get_test_func()())


def _checks_itself(view_class: type) -> bool:
    """Return whether the view's own code checks who may open it."""
    mixins = (LoginRequiredMixin, PermissionRequiredMixin, UserPassesTestMixin)
    return not issubclass(view_class, mixins) or any(
        "dispatch" in vars(base) and not base.__module__.startswith("django.")
        for base in view_class.__mro__
    )


def admin_summary(page: SitePage, user: Any, opened: Model) -> dict[str, Any]:
    """Return the values that the admin shows of `opened`, by field name."""
    is_kept = is_withheld(page) or is_withheld_model(page, type(opened))
    if is_kept or not _form_opens(page, user, opened):
        return {}
    fields = list(_shown_fields(page, user, opened))[:MAX_FIELDS]
    admin, request = admin_of(page, opened), page_request(page, user)
    limits = form_limited_fields(admin, request, opened, fields)
    values = {
        field.name: _value(page, field, opened)
        for field in fields
        if field.name not in limits or _names(limits[field.name], field, opened)
    }
    nothing: dict[str, Any] = {}
    only_shown = value_or(nothing, lambda: form_only_values(admin, request, opened))
    room = max(MAX_FIELDS - len(values), 0)
    for name, value in list(only_shown.items())[:room]:
        values[name] = short_value(value, MAX_CHARS)
    return values


def text_language(
    page: SitePage, user: Any, opened: Model, names: Iterable[str]
) -> str:
    """Return the code of the language of what the form adds to a model, if it says."""
    admin, request = admin_of(page, opened), page_request(page, user)
    if not form_only_names(admin.opts, names):
        return ""
    return form_language(admin, request, opened)


def admin_of(page: SitePage, opened: Model) -> Any:
    """Return the ModelAdmin of the opened object's own class, if that is in the admin."""
    site = page.model_admin.admin_site
    return site._registry.get(type(opened), page.model_admin)


def inline_names(page: SitePage, user: Any, opened: Model) -> dict[str, list[str]]:
    """
    Return the inlines of the opened object, by the names that tools take.

    Those of the page under "", those in the rows of an inline under its name, as
    "sections", and in the rows within under a path, as "sections.entries".
    """
    admin, request = admin_of(page, opened), page_request(page, user)
    names: dict[str, list[str]] = {}
    value_or(
        None,
        lambda: names.update(
            _inline_names(
                page,
                admin,
                request,
                opened,
                admin.get_formsets_with_inlines(request, opened),
            )
        ),
    )
    return names


def _inline_names(
    page: SitePage,
    admin: Any,
    request: HttpRequest,
    owner: Model,
    pairs: Any,
    path: str = "",
) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of inlines of `owner`, then of those in their rows, by path."""
    shown = [
        (formset.get_default_prefix(), inline)
        for formset, inline in pairs
        if not (is_withheld_inline(inline) or is_withheld_model(page, inline.model))
    ]
    if shown:
        yield path, [name for name, _inline in shown]
    for name, inline in shown if path.count(".") < MOST_LEVELS - 1 else ():
        nested = nested_formsets(admin, inline, request, owner)
        below = f"{path}.{name}" if path else name
        yield from _inline_names(page, admin, request, inline.model(), nested, below)


def held_permissions(page: SitePage, user: Any, opened: Model | None) -> list[str]:
    """Return the permissions of `user` there: view, add, change, delete."""
    admin, request = page.model_admin, page_request(page, user)
    if not _site_admits(page, request):
        return []
    checks = {
        "view": lambda: admin.has_view_permission(request, opened),
        "add": lambda: admin.has_add_permission(request),
        "change": lambda: admin.has_change_permission(request, opened),
        "delete": lambda: admin.has_delete_permission(request, opened),
    }
    return [name for name, may in checks.items() if may()]  # type: ignore[no-untyped-call]


def _shown_fields(page: SitePage, user: Any, opened: Model) -> Iterator[Any]:
    admin, request = admin_of(page, opened), page_request(page, user)
    for name in flatten_fieldsets(admin.get_fieldsets(request, opened)):
        try:
            field = admin.opts.get_field(name)
        except FieldDoesNotExist:
            continue
        is_column = field.concrete and not field.many_to_many
        if (is_column or _is_tags(field)) and not is_sensitive_field(field):
            yield field


def _is_tags(field: Any) -> bool:
    """Return whether these are links, but no choice among objects: a text in the form."""
    is_own = field.many_to_many and not field.auto_created
    return bool(is_own) and not isinstance(field, ManyToManyField)


def _names(limit: Any, field: Any, opened: Model) -> bool:
    """Return whether a form with this limit names what the object has."""
    if field.many_to_many:
        return False
    return names_value(limit, field, field.value_from_object(opened))


def _is_key(field: Any) -> bool:
    return isinstance(field, ForeignKey)


def _value(page: SitePage, field: Any, opened: Model) -> Any:
    if field.many_to_many:
        is_kept = is_withheld_model(page, field.related_model)
        tags = getattr(opened, field.name).all()[:MAX_TAGS]
        return [_linked(tag.pk, None if is_kept else str(tag)) for tag in tags]
    if not _is_key(field):
        value = masked_in(field, field.value_from_object(opened))
        return short_value(value, MAX_CHARS)
    if field.attname and getattr(opened, field.attname) is None:
        return None
    key = getattr(opened, field.attname)
    is_kept = is_withheld_model(page, field.related_model)
    return _linked(key, None if is_kept else str(getattr(opened, field.name)))


def _linked(key: Any, text: str | None) -> dict[str, Any]:
    return {"id": key} if text is None else {"id": key, "text": text}
