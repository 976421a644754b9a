"""The form of a model profile: its key, what is wrong with it, and what depends on it."""

from typing import Any

from django import forms
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables

from ai_assistant import conf
from ai_assistant.admin.base import RowForm
from ai_assistant.configuration.profiles import PROVIDERS, keep_key, key_of
from ai_assistant.models.configuration import Profile

SECRET = "api_key"  # noqa: S105 - the name of the field of the form


class ProfileForm(RowForm):
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
        self.destination_before = self.instance.destination
        if SECRET in self.fields:
            self.fields[SECRET].help_text = _about_key(self.key_before.state)
        if fallback := self.fields.get("fallback"):
            others = sorted({*conf.profiles()} - {self.instance.name})
            choices = [(name, name or _("none")) for name in ("", *others)]
            stored = self.instance.fallback
            if stored not in dict(choices):
                choices.append((stored, _("%s (gone)") % stored))
            fallback.widget = forms.Select(choices=choices)

    @method_decorator(sensitive_variables("key"))
    def clean_api_key(self) -> str:
        """Reject what no key is; nothing is told of it."""
        key: str = self.cleaned_data[SECRET]
        if not key.isascii() or not key.isprintable() or " " in key:
            raise forms.ValidationError(_("A key has no space and no such characters."))
        return key

    def _post_clean(self) -> None:
        super()._post_clean()
        if not self.errors:
            self._clean_key(self.instance)

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
