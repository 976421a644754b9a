"""The form of a new access token."""

import uuid
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.tokens import end_after

if TYPE_CHECKING:
    Base = forms.ModelForm[AccessToken]
else:
    Base = forms.ModelForm


class TokenForm(Base):
    """
    What a person chooses of a token; `by` is who does it.

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

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **options)
        days, most = self.fields["days"], conf.get("TOKEN_MAX_DAYS")
        days.initial = conf.get("TOKEN_DAYS")
        days.required = most is not None
        days.help_text = (
            _("Leave it empty for a token that never expires.")
            if most is None
            else _("%(days)s at most.") % {"days": f"{most:g}"}
        )

    def clean_days(self) -> int | None:
        """Keep to what the site allows."""
        days: int | None = self.cleaned_data["days"]
        try:
            self.instance.expires_at = end_after(days)
        except Refused as refused:
            raise ValidationError(str(refused)) from refused
        return days

    def clean_user(self) -> Any:  # noqa: ANN401
        """Refuse a user who may do what the person at the form may not."""
        user = self.cleaned_data["user"]
        if not may_act_as(self.by, user):
            raise ValidationError(
                _(
                    "“%(user)s” may do what you may not: a token would let you do it. "
                    "Ask a superuser."
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


def may_act_as(person: Any, user: Any) -> bool:  # noqa: ANN401 - the site's user model
    """Tell whether `user` has no right that `person` has not."""
    if person.is_superuser or person == user:
        return True
    own = person.get_all_permissions()
    return not user.is_superuser and user.get_all_permissions() <= own
