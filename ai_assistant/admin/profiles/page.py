"""Model profiles in the admin: key, address, a test, and what depends on each."""

from collections.abc import Iterator
from typing import Any, ClassVar

from asgiref.sync import async_to_sync
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextInputWidget
from django.db import connections, router
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from ai_assistant import conf
from ai_assistant.admin.profiles.first_run import FirstRunPages
from ai_assistant.admin.profiles.form import SECRET, ProfileForm
from ai_assistant.admin.rows.versions import VersionedAdmin
from ai_assistant.configuration.problems.rows import uses_of
from ai_assistant.configuration.profiles import profile_of
from ai_assistant.configuration.rows import refresh
from ai_assistant.models.configuration import Profile
from ai_assistant.providers import price_list
from ai_assistant.providers.base import OFFLINE, provider_path
from ai_assistant.providers.prices import has_prices
from ai_assistant.providers.readiness import Trial, missing_of, try_model
from ai_assistant.text.redaction.redact import redact

HELP = {
    "name": gettext_lazy(
        "“default” answers unless another is chosen. With the name of a profile of the "
        "settings, this takes its place."
    ),
    "label": gettext_lazy("With a label, users may choose it for a conversation."),
    "model": gettext_lazy(
        "Provider and model: openai/gpt-5-mini, anthropic/claude-sonnet-4-5. A server "
        "that speaks OpenAI's protocol is openai/ and its own name for the model."
    ),
    "api_base": gettext_lazy(
        "https://host/v1 of a server of your own. Empty: the provider's."
    ),
    "api_key_env": gettext_lazy(
        "In place of a key: the name of the variable in which the server finds it."
    ),
    "reasoning": gettext_lazy(
        "minimal, low, medium, high, or a number of tokens such as 8000. Empty: as the "
        "model does by itself."
    ),
    "window_tokens": gettext_lazy("Empty: as litellm's list has it."),
    "fallback": gettext_lazy("Answers if this model cannot begin to."),
    "first_byte_s": gettext_lazy("Empty: as the site has it."),
    "idle_s": gettext_lazy("In the middle of an answer. Empty: as the site has it."),
    "model_call_s": gettext_lazy("Empty: as the site has it."),
    "input_usd_per_mtok": gettext_lazy("Both, or none: then as litellm's list has it."),
    "options": gettext_lazy("Fields of the request, as JSON: {“temperature”: 0}."),
}


@admin.register(Profile)
class ProfileAdmin(FirstRunPages, VersionedAdmin):
    """Model profiles, for users with the admin's own permissions for them."""

    form = ProfileForm
    list_display = ("name", "model", "state", "label", "is_active", "in_settings")
    list_filter = ("is_active",)
    search_fields = ("name", "label", "model")
    when_empty = gettext_lazy(
        "No profile was added here yet. One names a model, and the key for it."
    )
    ordering = ("name",)
    readonly_fields: ClassVar[tuple[str, ...]] = ("known",)
    fieldsets = (
        (None, {"fields": ("name", "model", "known", SECRET, "remove_key")}),
        (
            gettext_lazy("Address"),
            {"fields": ("api_base", "api_key_env", "provider")},
        ),
        (
            gettext_lazy("Use"),
            {"fields": ("is_active", "label", "fallback", "reasoning")},
        ),
        (
            gettext_lazy("Limits and prices"),
            {
                "classes": ("collapse",),
                "fields": (
                    *("window_tokens", "first_byte_s", "idle_s", "model_call_s"),
                    *("input_usd_per_mtok", "output_usd_per_mtok", "options"),
                ),
            },
        ),
    )

    # --- the form ---

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the name: agents, conversations and settings have it."""
        return (*self.readonly_fields, *(("name",) if obj else ()))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Leave out what there is nothing of yet, and the key where nothing is changed."""
        hidden = set() if obj else {"known", "remove_key"}
        if obj and not self.has_change_permission(request, obj):
            hidden = {SECRET, "remove_key"}
        return [
            (
                title,
                {**own, "fields": [one for one in own["fields"] if one not in hidden]},
            )
            for title, own in self.fieldsets
        ]

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Say what belongs into each field."""
        kwargs.setdefault("help_text", HELP.get(db_field.name, ""))
        if db_field.name in {"model", "api_base"}:
            kwargs["widget"] = AdminTextInputWidget(attrs={"class": "vLargeTextField"})
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Refuse to find profiles by what their stored key looks like."""
        is_key = lookup.partition("__")[0] == "api_key_encrypted"
        return not is_key and super().lookup_allowed(lookup, value, request)

    @method_decorator(sensitive_post_parameters(SECRET))
    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show or save a profile, then test it if this was asked for."""
        refresh()
        tests = "_test" in request.POST
        posted: Any = request.POST.copy()
        if tests:
            posted["_continue"] = "1"
            request.POST = posted
        response = super().changeform_view(request, object_id, form_url, extra_context)
        if tests and response.status_code == 302:
            field, value = None, object_id or ""
            if not object_id:
                field, value = "name", posted["name"].strip()
            row = self.get_object(request, value, from_field=field)
            if row is not None:  # else it is gone, and the page says so
                self.test_row(request, row)
        return response

    def test_row(self, request: HttpRequest, row: Profile) -> bool:
        """
        Make real calls of the model, and tell what came of them.

        Return whether the model is of use, as far as that was found out.
        """
        alias = router.db_for_write(Profile)
        if connections[alias].settings_dict["ATOMIC_REQUESTS"]:
            # No transaction is open across a call of a model.
            sentence = _("To test it, run assistant_doctor --try, or open the panel.")
            self.message_user(request, sentence, messages.INFO)
            return True
        trial = async_to_sync(try_model)(_tested(row))
        self.message_user(request, _told(trial), _level(trial))
        return trial.ok

    # --- the list ---

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Add the profiles of the settings, in whose place a row may be put."""
        refresh()
        of_settings = {"of_settings": list(_of_settings())}
        return super().changelist_view(request, of_settings | (extra_context or {}))

    @admin.display(description=gettext_lazy("what is known"))
    def known(self, row: Profile) -> str:
        """Return what litellm's list says of the model."""
        return " ".join(_known(row))

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: Profile) -> str:
        """Return what keeps the model from answering."""
        return _state(row.name) if row.is_active else _("switched off")

    @admin.display(description=gettext_lazy("in the settings too"), boolean=True)
    def in_settings(self, row: Profile) -> bool:
        """Return whether the row takes the place of a profile of the settings."""
        return row.name in conf.get("PROFILES")

    # --- the end of one ---

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Protect what is in use, unless a profile of the settings takes its place."""
        found, counts, needed, protected = super().get_deleted_objects(objs, request)
        refresh()
        for row in objs:
            if not conf.get("PROFILES").get(row.name, {}).get("MODEL"):
                protected = [*protected, *uses_of(row.name)]
        return found, counts, needed, protected


def _state(name: str) -> str:
    missing = missing_of(name)
    return _("%(what)s is missing") % {"what": missing} if missing else _("ready")


def _of_settings() -> Iterator[dict[str, str]]:
    rows = set(Profile.objects.values_list("name", flat=True))
    for name, own in conf.get("PROFILES").items():
        if name not in rows:
            model = str(own.get("MODEL") or "")
            query = urlencode({"name": name, "model": model})
            yield {"name": name, "model": model, "query": query, "state": _state(name)}


def _tested(row: Profile) -> dict[str, Any]:
    """Return a row as a profile with its key, also one that is switched off."""
    return conf.with_key(profile_of(row))


def _told(trial: Trial) -> str:
    if not trial.ok:
        detail = redact(trial.detail)
        return f"{trial.text} ({detail})" if detail else trial.text
    said = _("It answered “%(text)s”; the first word came after %(first)s s.") % {
        "text": trial.text,
        "first": f"{trial.first_s:.1f}",
    }
    return f"{said} {trial.warning or _('It calls tools.')}"


def _level(trial: Trial) -> int:
    if not trial.ok:
        return messages.ERROR
    return messages.WARNING if trial.warning else messages.SUCCESS


def _known(row: Profile) -> Iterator[str]:
    """Yield what is known of a model, in sentences."""
    if provider_path(profile_of(row)) == OFFLINE:
        yield _(
            "No model: rules that help, search, count and change. They cost nothing."
        )
        return
    facts = price_list.facts_of(row.model)
    window = row.window_tokens or (facts.window_tokens if facts else None)
    if window:
        yield _("It reads %(count)s tokens.") % {"count": f"{window:,}"}
    else:
        yield _("How much it can read is not known.")
    if facts and facts.abilities:
        calls = "function_calling" in facts.abilities
        yield _("It calls tools.") if calls else _("It calls no tools.")
        if "vision" in facts.abilities:
            yield _("It sees pictures.")
    if has_prices(profile_of(row)):
        yield _("Its price is that of this profile.")
    elif facts and (usd := facts.cost_usd(price_list.ONE_EACH)) is not None:
        sentence = _(
            "A million tokens each of input and output cost %(usd)s US dollars."
        )
        yield sentence % {"usd": f"{usd:.2f}"}
    else:
        yield _("Its price is not known: budgets in US dollars count it as nothing.")
