"""Access tokens: making, looking at and revoking them."""

import uuid
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_variables

from ai_assistant import conf
from ai_assistant.admin.base import AssistantAdmin, ReadOnlyAdmin
from ai_assistant.engine.queries import runs_of_tokens
from ai_assistant.engine.service import revoke
from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.audit import request_ip
from ai_assistant.safety.identity.tokens import end_after, state_of, store_new


class TokenForm(forms.ModelForm):  # type: ignore[type-arg] # its checker's
    """
    The options of a new token that a person chooses; `by` is that person.

    `key` is the id of the token to be: a form that is sent again makes no second one.
    """

    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("May"),
        choices=AccessToken.Scope.choices,
        initial=[AccessToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "It can never do more than its user. What it may do cannot be changed "
            "later."
        ),
    )
    days = forms.IntegerField(label=gettext_lazy("Valid for days"), min_value=1)
    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    by: Any = None

    class Meta:
        model = AccessToken
        fields = ("user", "name", "scopes")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        days, max_days = self.fields["days"], conf.get("TOKENS", "MAX_DAYS")
        days.initial = conf.get("TOKENS", "DAYS")
        days.required = max_days is not None
        days.help_text = (
            _("Leave it empty for a token that never expires.")
            if max_days is None
            else _("%(days)s at most.") % {"days": f"{max_days:g}"}
        )

    def clean_days(self) -> int | None:
        """Check the days against the site's maximum."""
        days: int | None = self.cleaned_data["days"]
        try:
            self.instance.expires_at = end_after(days)
        except Refused as refused:
            raise ValidationError(str(refused)) from refused
        return days

    def clean_user(self) -> Any:
        """Refuse a user with permissions that the person at the form lacks."""
        user = self.cleaned_data["user"]
        if not may_act_as(self.by, user):
            raise ValidationError(
                _(
                    "“%(user)s” has permissions that you do not have, and a token "
                    "would give them to you. Ask a superuser."
                )
                % {"user": user}
            )
        return user

    def clean(self) -> dict[str, Any]:
        """Refuse a form that was sent before."""
        data = super().clean() or self.cleaned_data
        key = data.get("key")
        if key is not None and AccessToken.objects.filter(pk=key).exists():
            raise ValidationError(
                _(
                    "This token was created already, and its secret is shown only once. "
                    "If you do not have it, revoke the token and create another."
                )
            )
        return data


def may_act_as(person: Any, user: Any) -> bool:
    """Return whether `person` has every permission that `user` has."""
    if person.is_superuser or person == user:
        return True
    permissions = person.get_all_permissions()
    return not user.is_superuser and user.get_all_permissions() <= permissions


LIST = "admin:ai_assistant_accesstoken_changelist"


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin):
    """
    Access tokens: one's own, or all of them for who manages them.

    A token is made, looked at and revoked; nothing about it is ever changed.
    """

    list_display = (
        *("name", "state", "user", "prefix", "scope_names"),
        *("last_used_at", "expires_at", "created_at"),
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix")
    raw_id_fields = ("user",)
    actions = ("revoke_chosen",)
    fields = (
        *("name", "user", "prefix", "may", "state"),
        *("created_at", "expires_at", "last_used_at", "refused_at", "revoked_at"),
    )
    readonly_fields = fields
    user_field = "user"
    when_empty = gettext_lazy(
        "No token yet. A program needs one to talk to the assistant as a user."
    )
    form = TokenForm
    change_form_template = "ai_assistant/admin/token_change.html"
    add_form_template = "ai_assistant/admin/token_add.html"

    # --- who may ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow users who may have tokens, while the assistant is on."""
        is_permitted = AssistantAdmin.has_add_permission(self, request)
        return is_permitted or (conf.enabled() and may_manage(request))

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who may have tokens to see them: `get_queryset` says whose."""
        return super().has_view_permission(request, obj) or self.has_add_permission(
            request
        )

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission; of others', who manages them."""
        allowed = AssistantAdmin.has_delete_permission(self, request, obj)
        is_own = not isinstance(obj, AccessToken) or obj.user_id == request.user.pk
        may = allowed and (is_own or may_manage(request))
        return may or super().has_delete_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessToken]:
        """Leave out the tokens of others, unless the person manages them."""
        rows: QuerySet[AccessToken] = super().get_queryset(request)
        user: Any = request.user
        return rows if may_manage(request) else rows.filter(user=user)

    # --- columns ---

    @admin.display(description=gettext_lazy("may"))
    def may(self, token: AccessToken) -> str:
        """Return the scopes in words."""
        labels = dict(AccessToken.Scope.choices)
        return "; ".join(str(labels.get(scope, scope)) for scope in token.scopes)

    @admin.display(description=gettext_lazy("scopes"))
    def scope_names(self, token: AccessToken) -> str:
        """Return the names of the scopes."""
        return ", ".join(token.scopes)

    @admin.display(description=gettext_lazy("state"))
    def state(self, token: AccessToken) -> str:
        """Return whether the token can be used, or why not."""
        return str(state_of(token).label)

    # --- a new one ---

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Ask for the user only if the person may choose one."""
        if obj is not None:
            return super().get_fieldsets(request, obj)
        owner = ("user",) if may_manage(request) else ()
        return [(None, {"fields": ("name", *owner, "scopes", "days", "key")})]

    def get_readonly_fields(self, _request: HttpRequest, obj: Any = None) -> Any:
        """Make all fields of an existing token read-only."""
        return () if obj is None else self.readonly_fields

    def get_form(
        self,
        request: HttpRequest,
        obj: Any = None,
        change: bool = False,  # noqa: FBT001, FBT002 - Django's own signature
        **options: Any,
    ) -> Any:
        """Pass the form the user who fills it in."""
        form: Any = super().get_form(request, obj, change, **options)
        form.by = request.user
        if obj is None and "user" in form.base_fields:
            form.base_fields["user"].initial = request.user.pk
        return form

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Offer one way to save: it shows the secret."""
        extra = {"show_save_and_continue": False, "show_save_and_add_another": False}
        try:
            return super().add_view(
                request, form_url, {**extra, **(extra_context or {})}
            )
        except IntegrityError:  # the same form twice at a time
            self.message_user(
                request, _("This token was created already."), messages.WARNING
            )
            return HttpResponseRedirect(reverse(LIST))

    @sensitive_variables("secret")
    def save_model(
        self,
        request: HttpRequest,
        obj: Any,
        form: Any,
        change: bool,  # noqa: FBT001 - Django's own signature
    ) -> None:
        """Store the token; its secret stays with the object until it is shown."""
        data = form.cleaned_data
        obj.pk, obj.scopes = data["key"], data["scopes"]
        obj.user = data.get("user") or request.user
        obj.secret = store_new(obj, by=request.user, ip=request_ip(request))

    def response_add(
        self,
        request: HttpRequest,
        obj: Any,
        post_url_continue: str | None = None,
    ) -> HttpResponse:
        """Show the secret, here and never again."""
        context = {
            **self.admin_site.each_context(request),
            "title": _("Access token created"),
            "opts": self.opts,
            "token": obj,
            "may": self.may(obj),
        }
        response = TemplateResponse(
            request, "ai_assistant/admin/token_secret.html", context
        )
        add_never_cache_headers(response)
        response["Referrer-Policy"] = "no-referrer"
        return response

    # --- the end of one ---

    @admin.action(
        description=gettext_lazy("Revoke selected access tokens"), permissions=["view"]
    )
    def revoke_chosen(
        self, request: HttpRequest, queryset: QuerySet[AccessToken]
    ) -> HttpResponse | None:
        """Ask for confirmation, then revoke the selected tokens."""
        if "confirmed" not in request.POST:
            return self._confirmation_page(request, queryset)
        count = sum(self._revoke(request, token) for token in queryset)
        message = ngettext(
            "%(count)s access token was revoked.",
            "%(count)s access tokens were revoked.",
            count,
        )
        self.message_user(request, message % {"count": count}, messages.SUCCESS)
        return None

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Revoke it first."""
        self._revoke(request, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """Revoke them first."""
        for token in queryset:
            self._revoke(request, token)
        super().delete_queryset(request, queryset)

    def _revoke(self, request: HttpRequest, token: AccessToken) -> bool:
        is_revoked = revoke(token, by=request.user, ip=request_ip(request))
        if is_revoked:
            self.log_change(request, token, _("Revoked."))
        return is_revoked

    def _confirmation_page(
        self, request: HttpRequest, tokens: QuerySet[AccessToken]
    ) -> HttpResponse:
        working = runs_of_tokens(tokens.values("pk"))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Revoke access tokens"),
            "opts": self.opts,
            "tokens": [(token, self.may(token)) for token in tokens],
            "running": working.count(),
        }
        return TemplateResponse(
            request, "ai_assistant/admin/token_revoke.html", context
        )


def may_manage(request: HttpRequest) -> bool:
    """Return whether the person sees, makes and revokes tokens of others too."""
    user: Any = request.user
    return bool(user.has_perm("ai_assistant.manage_accesstoken"))
