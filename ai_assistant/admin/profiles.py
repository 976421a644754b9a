"""Model profiles in the admin: key, address, a test, and what depends on each."""

from collections.abc import Iterator
from typing import Any, ClassVar

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminTextInputWidget
from django.db import connections, router
from django.http import HttpRequest, HttpResponse
from django.urls import resolve
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import (
    sensitive_post_parameters,
    sensitive_variables,
)

from ai_assistant import conf
from ai_assistant.admin.base import ManagedAdmin
from ai_assistant.configuration.profiles import (
    PROVIDERS,
    keep_key,
    key_of,
    profile_of,
    profile_problems,
)
from ai_assistant.configuration.rows import refresh
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.models.profile import Profile
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.providers import price_list
from ai_assistant.providers.prices import has_prices
from ai_assistant.providers.readiness import Trial, missing_of, try_model
from ai_assistant.text.redaction.redact import redact
from ai_assistant.types import Usage

SECRET = "api_key"  # noqa: S105 - the name of the field of the form
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


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg] # its checker's
    """A profile, with a key that goes in and never comes out."""

    api_key = forms.CharField(
        label=gettext_lazy("API key"),
        required=False,
        strip=True,
        max_length=4000,
        # Its value is not in the page again, also after an error.
        widget=forms.PasswordInput(
            attrs={"class": "vTextField", "autocomplete": "new-password"}
        ),
    )
    remove_key = forms.BooleanField(
        label=gettext_lazy("Remove the key"), required=False
    )
    provider = forms.ChoiceField(
        label=gettext_lazy("Provider"),
        required=False,
        choices=[(name, name or gettext_lazy("By the model")) for name in PROVIDERS],
    )

    class Meta:
        model = Profile
        fields = (
            *("name", "model", "api_base", "api_key_env", "provider", "is_active"),
            *("label", "fallback", "reasoning", "window_tokens", "first_byte_s"),
            *("idle_s", "model_call_s", "input_usd_per_mtok", "output_usd_per_mtok"),
            "options",
        )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.key_before = key_of(self.instance)
        self.was_active = self.instance.pk is not None and self.instance.is_active
        self.destination_before = self.instance.destination
        if SECRET in self.fields:
            self.fields[SECRET].help_text = _about_key(self.key_before.state)
        if fallback := self.fields.get("fallback"):
            others = sorted({*conf.profiles()} - {self.instance.name})
            fallback.widget = forms.Select(
                choices=[(name, name or _("none")) for name in ("", *others)]
            )

    @method_decorator(sensitive_variables("key"))
    def clean_api_key(self) -> str:
        """Reject what no key is; nothing is told of it."""
        key: str = self.cleaned_data[SECRET]
        if not key.isascii() or not key.isprintable() or " " in key:
            raise forms.ValidationError(_("A key has no space and no such characters."))
        return key

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc] # Django's own
        if self.errors:
            return
        row: Profile = self.instance
        if problems := profile_problems(row):
            for name, problem in problems.items():
                self.add_error(name if name in self.fields else None, problem)
            return
        if self.was_active and not row.is_active:
            for use in uses_of(row.name):
                self.add_error("is_active", use)
        self._clean_key(row)

    @method_decorator(sensitive_variables("key"))
    def _clean_key(self, row: Profile) -> None:
        key = self.cleaned_data.get(SECRET, "")
        if key and row.api_key_env:
            self.add_error(SECRET, _("Give a key or the name of a variable, not both."))
        elif key:
            keep_key(row, key)
        elif self.cleaned_data.get("remove_key") or row.api_key_env:
            keep_key(row, "")
        elif problem := _key_problem(key_of(row).state):
            self.add_error(SECRET, problem)


def _about_key(state: str) -> str:
    if state == "kept":
        return _("There is one. It is not shown; enter another to replace it.")
    return _key_problem(state) or _("It is stored encrypted, and never shown again.")


def _key_problem(state: str) -> str:
    if state == "elsewhere":
        return _(
            "The key was entered for another address or provider, and is not sent to "
            "this one. Enter it again, or remove it."
        )
    if state == "unreadable":
        return _(
            "The key cannot be read with this site's SECRET_KEY. Enter it again, or "
            "remove it."
        )
    return ""


def uses_of(name: str) -> list[str]:
    """Return what depends on a profile, in sentences."""
    named = {"name": name}
    found = [
        _("The agent “%(agent)s” uses it.") % {"agent": agent.name}
        for agent in registered_agents()
        if agent.profile == name
    ]
    found += [
        _("The profile “%(other)s” falls back to it.") % {"other": other}
        for other, own in conf.profiles().items()
        if own.get("FALLBACK") == name
    ]
    found += [
        _("The setting %(setting)s names it.") % {"setting": setting}
        for setting in ("TITLE_PROFILE", "SUMMARY_PROFILE")
        if conf.get(setting) == name
    ]
    if name == conf.DEFAULT:
        found.append(_("All conversations use “%(name)s” by default.") % named)
    count = Run.objects.filter(profile=name, state__in=UNFINISHED).count()
    if count:
        sentence = ngettext(
            "%(count)s run with it is under way.",
            "%(count)s runs with it are under way.",
            count,
        )
        found.append(sentence % {"count": count})
    return found


@admin.register(Profile)
class ProfileAdmin(ManagedAdmin):
    """Model profiles, for users with the admin's own permissions for them."""

    form = ProfileForm
    list_display = ("name", "label", "model", "state", "is_active", "in_settings")
    list_filter = ("is_active",)
    search_fields = ("name", "label", "model")
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
        if tests:
            posted: Any = request.POST.copy()
            posted["_continue"] = "1"
            request.POST = posted
        response = super().changeform_view(request, object_id, form_url, extra_context)
        if tests and response.status_code == 302:
            pk = resolve(response["Location"].partition("?")[0]).kwargs["object_id"]
            self._test(request, Profile.objects.get(pk=pk))
        return response

    def _test(self, request: HttpRequest, row: Profile) -> None:
        """Make real calls of the model, and tell what came of them."""
        alias = router.db_for_write(Profile)
        if connections[alias].settings_dict["ATOMIC_REQUESTS"]:
            # No transaction is open across a call of a model.
            sentence = _("To test it, run assistant_doctor --try, or open the panel.")
            self.message_user(request, sentence, messages.INFO)
            return
        trial = async_to_sync(try_model)(_tested(row))
        self.message_user(request, _told(trial), _level(trial))

    # --- columns ---

    @admin.display(description=gettext_lazy("what is known"))
    def known(self, row: Profile) -> str:
        """Return what litellm's list says of the model."""
        return " ".join(_known(row))

    @admin.display(description=gettext_lazy("state"))
    def state(self, row: Profile) -> str:
        """Return what keeps the model from answering."""
        if not row.is_active:
            return _("switched off")
        refresh()
        missing = missing_of(row.name)
        return _("%(what)s is missing") % {"what": missing} if missing else _("ready")

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


ONE_EACH = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


def _known(row: Profile) -> Iterator[str]:
    """Yield what is known of a model, in sentences."""
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
    elif facts and (usd := facts.cost_usd(ONE_EACH)) is not None:
        sentence = _(
            "A million tokens each of input and output cost %(usd)s US dollars."
        )
        yield sentence % {"usd": f"{usd:.2f}"}
    else:
        yield _("Its price is not known: budgets in US dollars count it as nothing.")
