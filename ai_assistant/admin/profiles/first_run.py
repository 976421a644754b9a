"""The first run: a provider, its key, a test and the first question, on one page."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib.admin.widgets import AdminTextInputWidget
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from ai_assistant import conf
from ai_assistant.admin.profiles.form import SECRET, ProfileForm
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.profiles import keep_key, key_of
from ai_assistant.configuration.rows import refresh
from ai_assistant.models.configuration import Profile
from ai_assistant.providers.readiness import missing_of, missing_package
from ai_assistant.safety.identity.permissions import may_use
from ai_assistant.safety.site_code import value_or
from ai_assistant.web.panel.layout import close_panel

FIRST, FORM, LAST = 1, 2, 3  # the steps
OFFLINE_MODEL = "offline"


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Who may answer: what is filled in, and what is asked for."""

    label: Any
    model: str  # a good one to begin with
    note: Any = ""
    provider: str = ""
    needs_key: bool = True
    has_address: bool = False

    @property
    def variable(self) -> str:
        """The environment variable with the provider's key."""
        return f"{self.model.partition('/')[0].upper()}_API_KEY"

    @property
    def missing(self) -> str:
        """The package that is not installed, without which it cannot be called."""
        return missing_package({"MODEL": self.model, "PROVIDER": self.provider})


CHOICES: Mapping[str, Choice] = {
    "openai": Choice(label="OpenAI", model="openai/gpt-5-mini"),
    "anthropic": Choice(label="Anthropic", model="anthropic/claude-sonnet-4-5"),
    "mistral": Choice(label="Mistral", model="mistral/mistral-medium-latest"),
    "openrouter": Choice(
        label="OpenRouter",
        model="openrouter/openai/gpt-5-mini",
        note=gettext_lazy("One key for the models of many providers."),
    ),
    "server": Choice(
        label=gettext_lazy("A server of your own"),
        model="openai/",
        note=gettext_lazy("Ollama, vLLM, LM Studio: all that speak OpenAI's protocol."),
        needs_key=False,
        has_address=True,
    ),
    "offline": Choice(
        label=gettext_lazy("Try it without a key"),
        model=OFFLINE_MODEL,
        note=gettext_lazy(
            "The built-in offline model: rules that help, search, count and change, "
            "in English."
        ),
        provider="offline",
        needs_key=False,
    ),
}


class FirstRunForm(ProfileForm):
    """The few fields of a profile without which no model answers."""

    class Meta:
        model = Profile
        fields = ("model", "api_base")
        widgets: ClassVar = {
            name: AdminTextInputWidget(attrs={"class": "vLargeTextField"})
            for name in fields
        }

    def __init__(self, *args: Any, choice: Choice, **options: Any) -> None:
        super().__init__(*args, **options)
        row: Profile = self.instance
        row.provider = choice.provider
        unasked = {"remove_key", "provider"}
        if not choice.has_address:
            row.api_base = ""
            unasked.add("api_base")
        if choice.provider:
            row.model, row.api_key_env = choice.model, ""
            unasked |= {"model", SECRET}
        for name in unasked:
            del self.fields[name]
        if choice.has_address:
            self.fields["api_base"].required = True
            self.fields["api_base"].help_text = _("Such as https://host/v1.")
        if SECRET in self.fields:
            self._ask_for_key(choice)

    def _ask_for_key(self, choice: Choice) -> None:
        has_variable = bool(os.environ.get(choice.variable))
        state, field = self.key_before.state, self.fields[SECRET]
        field.required = choice.needs_key and state != "kept" and not has_variable
        if has_variable and state == "none":
            field.help_text = _(
                "Empty: the variable %(name)s, which this server has."
            ) % {"name": choice.variable}

    def clean(self) -> Any:
        """Drop the variable of another provider, which this page does not ask for."""
        values: Any = super().clean()
        row = self.instance
        goes = Profile(
            model=values.get("model", row.model),
            api_base=values.get("api_base", row.api_base),
            provider=row.provider,
        )
        is_same = value_or(None, lambda: goes.destination) == self.destination_before
        if values.get(SECRET) or not is_same:
            row.api_key_env = ""
        return values

    @method_decorator(sensitive_variables())
    def _clean_key(self, row: Profile) -> None:
        if not self.cleaned_data.get(SECRET) and key_of(row).state == "elsewhere":
            keep_key(row, "")  # of the provider that was there before
        super()._clean_key(row)


class FirstRunPages:
    """Adds the first run to the pages of profiles; of their ModelAdmin."""

    admin_site: Any
    opts: Any

    def get_urls(self) -> list[Any]:
        """Add the page."""
        view = self.admin_site.admin_view(self.first_run_view)
        own = path("first-run/", view, name="ai_assistant_profile_first_run")
        return [own, *super().get_urls()]  # type: ignore[misc] # of the ModelAdmin

    @method_decorator(sensitive_post_parameters(SECRET))
    def first_run_view(self, request: HttpRequest) -> HttpResponse:
        """Show the step that is next; save and test the profile of the first run."""
        refresh()
        row = Profile.objects.filter(name=DEFAULT).first()
        self._check(request, row)
        chosen = request.GET.get("provider", "")
        choice = CHOICES.get(chosen)
        if choice is None:
            is_ready = "provider" not in request.GET and not missing_of(DEFAULT)
            return self._page(request, LAST if is_ready else FIRST)
        form = _form(request, row or Profile(name=DEFAULT), choice)
        if form.is_valid():
            return self._saved(request, form, chosen)
        return self._page(request, FORM, choice=choice, form=form)

    def _check(self, request: HttpRequest, row: Profile | None) -> None:
        own: Any = self
        may = (
            own.has_change_permission(request, row)
            if row
            else own.has_add_permission(request)
        )
        if not may:
            raise PermissionDenied

    def _saved(self, request: HttpRequest, form: Any, chosen: str) -> HttpResponse:
        """Save, then test: the next step, or the form again with what is wrong."""
        own: Any = self
        is_new = form.instance.pk is None
        message = own.construct_change_message(request, form, [], add=is_new)
        with transaction.atomic():
            row = own.save_form(request, form, change=not is_new)
            own.save_model(request, row, form, change=not is_new)
            log = own.log_addition if is_new else own.log_change
            log(request, row, message)
        refresh()
        here = reverse(f"{self.admin_site.name}:ai_assistant_profile_first_run")
        query = "" if own.test_row(request, row) else f"?provider={chosen}"
        return HttpResponseRedirect(f"{here}{query}")

    def _page(self, request: HttpRequest, step: int, **values: Any) -> HttpResponse:
        labels = (_("Provider"), _("Key and test"), _("First question"))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Set up the assistant"),
            "step": step,
            "steps": enumerate(labels, FIRST),
            "choices": CHOICES.items(),
            "model": conf.profiles().get(DEFAULT, {}).get("MODEL", ""),
            "can_ask": may_use(request.user),
            **values,
        }
        template = "ai_assistant/admin/first_run.html"
        response = TemplateResponse(request, template, context)
        if step != LAST:
            # On a phone it would cover the very page to which it has led.
            close_panel(request, response)
        return response


def _form(request: HttpRequest, row: Profile, choice: Choice) -> FirstRunForm:
    """Return the form, filled in with the model that the site has, if it is of this one."""
    known = conf.profiles().get(DEFAULT, {})
    model, base = str(known.get("MODEL") or ""), str(known.get("API_BASE") or "")
    is_same = model.startswith(choice.model.partition("/")[0] + "/")
    keeps = is_same and bool(base) == choice.has_address
    initial = {
        "model": model if keeps else choice.model,
        "api_base": base if choice.has_address else "",
    }
    data = request.POST if request.method == "POST" else None
    return FirstRunForm(data, instance=row, initial=initial, choice=choice)
