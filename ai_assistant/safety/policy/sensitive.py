"""Models and fields that no tool and no context may read, write or filter by."""

import re
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db.models import Model

from ai_assistant import conf

# In a name of several words each counts, also as plural or numbered: `api_key`,
# `session_tokens`, `password2`.
SECRET_WORDS = re.compile(
    r"(^|_)(password|passwd|passphrase|passcode|pwd|(client_?)?secret|(auth|access)?_?token|"
    r"credential|(api|private|access|signing|session)_?key|session_?data|"
    r"(hashed|auth|encryption|recovery|backup|totp|otp|mfa)_?(key|code|seed|secret)|"
    r"salt|hash|otp|pin)(e?s)?\d*($|_)",
    re.IGNORECASE,
)
WORD_BREAKS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What a person types in place of an underscore, in a key of JSON.
NO_WORD = re.compile(r"\W+")
HIDDEN = "•••"
Labels = tuple[str, ...]
FIELDS = frozenset(
    {
        "auth.user.is_superuser",
        "auth.user.is_staff",
        "auth.user.groups",
        "auth.user.user_permissions",
        "auth.group.permissions",
    }
)
APPS = frozenset(
    {
        "sessions",
        "authtoken",
        "ai_assistant",
        "django_otp",
        "otp_email",
        "otp_hotp",
        "otp_static",
        "otp_totp",
    }
)
MODELS = frozenset({"auth.permission", "admin.logentry"})
RIGHTS = frozenset({"is_superuser", "is_staff", "groups", "user_permissions"})


def is_sensitive_model(model: Any) -> bool:
    """Return whether nothing of this table may be shown."""
    return _is_sensitive_model(model, _added(), _opened())


@lru_cache(4096)
def _is_sensitive_model(model: Any, added: Labels, opened: Labels) -> bool:
    for meta in _metas(model):
        if meta.label_lower in opened:
            return False
        if meta.app_label in APPS or meta.label_lower in (*MODELS, *added):
            return True
    return False


def is_sensitive_field(field: Any) -> bool:
    """Return whether this field may not be shown."""
    return _is_sensitive_field(field, _added(), _opened(), settings.AUTH_USER_MODEL)


@lru_cache(4096)
def _is_sensitive_field(
    field: Any, added: Labels, opened: Labels, _user_model: str
) -> bool:
    metas = _metas(field.model)
    names = {f"{meta.label_lower}.{field.name}".lower() for meta in metas}
    if not names.isdisjoint(opened):
        return False
    return (
        not names.isdisjoint((*FIELDS, *added))
        or (_is_user(field.model) and field.name in RIGHTS)
        or is_secret_name(field.name)
    )


@lru_cache(1024)  # names of fields and of keys: the same ones again and again
def is_secret_name(name: str) -> bool:
    """Return whether a field, or a key of JSON, is a secret by its name."""
    words = NO_WORD.sub("_", WORD_BREAKS.sub("_", name))
    return bool(SECRET_WORDS.search(words))


def is_kept_name(name: str) -> bool:
    """
    Return whether an input is kept back of which only the name is known.

    Its form is not the admin's, so nobody can say what it writes: what has the name of a
    sensitive field is taken for one.
    """
    own = name.rpartition("-")[2].lower()  # without the prefix of its form
    added = {label.rpartition(".")[2] for label in _added() if label.count(".") > 1}
    return is_secret_name(name) or own in RIGHTS | added


def is_opened_field(field: Any) -> bool:
    """Return whether NOT_SENSITIVE lists this field, and so all of its contents."""
    names = {f"{meta.label_lower}.{field.name}".lower() for meta in _metas(field.model)}
    return not names.isdisjoint(_opened())


def mask_secrets(value: Any) -> Any:
    """Return `value` with the values of secret keys masked, at any depth."""
    if isinstance(value, dict):
        return {
            key: HIDDEN
            if item is not None and is_secret_name(str(key))
            else mask_secrets(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask_secrets(item) for item in value]
    return value


def masked_in(field: Any, value: Any) -> Any:
    """Return the value of a field masked, unless the site has opened the field."""
    is_json = isinstance(value, dict | list)
    return mask_secrets(value) if is_json and not is_opened_field(field) else value


def secrets_in(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return the values under secret keys, by their path."""
    secrets: dict[tuple[Any, ...], Any] = {}
    if isinstance(value, dict):
        for key, item in value.items():
            if is_secret_name(str(key)):
                secrets[(*path, key)] = item
            else:
                secrets |= secrets_in(item, (*path, key))
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            secrets |= secrets_in(item, (*path, place))
    return secrets


def _metas(model: Any) -> list[Any]:
    """Return the options of the model, and those of the table behind a proxy."""
    meta = model._meta
    concrete = meta.concrete_model or model
    return [meta] if concrete is model else [meta, concrete._meta]


def _is_user(model: Any) -> bool:
    """Return whether this is the site's table of users, ours or its own."""
    label = model._meta.label_lower
    return label == settings.AUTH_USER_MODEL.lower() or hasattr(model, "has_perm")


def _added() -> Labels:
    return tuple(map(str.lower, conf.get("DATA", "SENSITIVE")))


def _opened() -> Labels:
    return tuple(map(str.lower, conf.get("DATA", "NOT_SENSITIVE")))


def is_read_only(model: type[Model], model_admin: Any = None, field: str = "") -> bool:
    """
    Return whether the data tools may read, but not write, a model or its field.

    The site says so in DATA['READ_ONLY'], or by `assistant_read_only` of the model or
    its ModelAdmin: True, or the names of fields.
    """
    listed = {str(label).lower() for label in conf.get("DATA", "READ_ONLY")}
    labels = {one._meta.label_lower for one in (model, *model._meta.all_parents)}
    names = labels | {f"{label}.{field}" for label in labels if field}
    if listed & names:
        return True
    said = [getattr(one, "assistant_read_only", ()) for one in (model, model_admin)]
    return any(one is True or (one and field in one) for one in said)


def is_opted_out(model: type[Model], model_admin: Any = None) -> bool:
    """Return whether the site hides the model or this admin from the assistant."""
    excluded = {str(label).lower() for label in conf.get("DATA", "MODELS_EXCLUDED")}
    return (
        model._meta.label_lower in excluded
        or getattr(model, "assistant", True) is False
        or getattr(model_admin, "assistant", True) is False
    )
