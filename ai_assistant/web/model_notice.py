"""What is told where no model can answer: what to do, or whom to ask."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import FieldError
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.providers.base import OF_ROW
from ai_assistant.providers.readiness import missing_of

MOST = 10  # superusers of whom one has a name


@dataclass(frozen=True, kw_only=True, slots=True)
class SetupStep:
    """A step to a model that answers; `url` leads to where it is taken."""

    text: str
    url: str = ""
    is_done: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelNotice:
    """
    Why no message would be answered.

    `url` leads a superuser to what is missing; `steps`, and `trial` without a key, are
    for who may save a profile.
    """

    text: str
    url: str = ""
    steps: tuple[SetupStep, ...] = ()
    trial: str = ""


def model_notice(user: Any, profile: str = DEFAULT) -> ModelNotice | None:
    """Return what to say before the first question, if `profile` cannot answer."""
    if profile not in conf.profiles():
        profile = DEFAULT  # with which a conversation goes on whose profile is gone
    missing = missing_of(profile)
    if not missing:
        return None
    steps = _setup_steps(user, profile)
    is_superuser = bool(getattr(user, "is_superuser", False))
    if not steps and not is_superuser:
        return ModelNotice(text=_for_others(user))
    said = _("No model can answer: %(name)s is missing.") % {"name": missing}
    url = reverse("ai_assistant:model") if is_superuser else ""
    trial = f"{steps[0].url}?provider=offline" if len(steps) > 1 else ""
    return ModelNotice(text=said, url=url, steps=steps, trial=trial)


def _for_others(user: Any) -> str:
    contact = contact_for(user)
    if not contact:
        return _(
            "The assistant cannot answer yet: an administrator has to set up its model."
        )
    sentence = _(
        "The assistant cannot answer yet: its model is not set up. Ask %(who)s."
    )
    return sentence % {"who": contact}


def contact_for(user: Any) -> str:
    """
    Return whom `user` can ask to set up the model; empty if nobody is to be named.

    Of a superuser the full name alone, never an address, and to staff alone: to them
    the admin's own history shows it as well.
    """
    said = conf.get("PANEL", "CONTACT")
    if said != "auto":
        return str(said)
    if not getattr(user, "is_staff", False):
        return ""
    try:
        found = get_user_model()._default_manager.filter(
            is_active=True, is_superuser=True
        )
        names = [one.get_full_name().strip() for one in found.order_by("pk")[:MOST]]
    except (FieldError, AttributeError):  # users of the site's own kind
        return ""
    return next(filter(None, names), "")


def _setup_steps(user: Any, name: str) -> tuple[SetupStep, ...]:
    """Return the way to a model that answers; empty for who may not save its profile."""
    own = conf.profiles().get(name, {})
    row = own.get(OF_ROW)
    if not user.has_perm(f"ai_assistant.{'change' if row else 'add'}_profile"):
        return ()
    model, base = str(own.get("MODEL") or ""), str(own.get("API_BASE") or "")
    try:
        if name == DEFAULT:
            return _first_steps(model, base)
        address = _form_of(name, row, model=model, base=base)
    except NoReverseMatch:  # a site without Django's admin
        return ()
    return (SetupStep(text=_("Choose a model and enter its key"), url=address),)


def _form_of(name: str, row: Any, *, model: str, base: str) -> str:
    """Return the form of a profile, filled in with what is known."""
    if row:
        return reverse("admin:ai_assistant_profile_change", args=[row])
    known = {"name": name, "model": model, "api_base": base}
    query = urlencode({key: value for key, value in known.items() if value})
    return f"{reverse('admin:ai_assistant_profile_add')}?{query}"


def _first_steps(model: str, base: str) -> tuple[SetupStep, ...]:
    """Return the steps of the first run: with a model, the provider is chosen."""
    address = reverse("admin:ai_assistant_profile_first_run")
    chosen = "server" if base else model.partition("/")[0]
    query = urlencode({"provider": chosen})
    return (
        SetupStep(text=_("Choose a provider"), url=address, is_done=bool(model)),
        SetupStep(text=_("Enter its key"), url=f"{address}?{query}" if model else ""),
        SetupStep(text=_("“Save and test” makes a real call there")),
        SetupStep(text=_("Ask your first question here")),
    )
