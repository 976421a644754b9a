"""Fields and tables that no tool and no context may read, write or filter by."""

import re
from typing import Any

from django.conf import settings

from ai_assistant import conf

# In a name of several words each counts, also as plural or numbered: `api_key`,
# `session_tokens`, `password2`.
SECRET_WORDS = re.compile(
    r"(^|_)(password|passwd|passphrase|pwd|(client_?)?secret|(auth|access)?_?token|"
    r"credential|(api|private|access|signing|session)_?key|session_?data|"
    r"salt|hash|otp|pin)(e?s)?\d*($|_)",
    re.IGNORECASE,
)
WORD_BREAKS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
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


def is_sensitive_model(model: Any) -> bool:  # noqa: ANN401 - a model class
    """Tell whether nothing of this table may be shown."""
    for meta in _metas(model):
        if meta.label_lower in _opened():
            return False
        named = MODELS | _added()
        if meta.app_label in APPS or meta.label_lower in named:
            return True
    return False


def is_sensitive_field(field: Any) -> bool:  # noqa: ANN401 - a model field
    """Tell whether this field may not be shown."""
    metas = _metas(field.model)
    names = {f"{meta.label_lower}.{field.name}".lower() for meta in metas}
    if names & _opened():
        return False
    return (
        bool(names & (FIELDS | _added()))
        or (_is_user(field.model) and field.name in RIGHTS)
        or bool(SECRET_WORDS.search(WORD_BREAKS.sub("_", field.name)))
    )


def _metas(model: Any) -> list[Any]:  # noqa: ANN401 - a model class
    """Return the options of the model, and those of the table behind a proxy."""
    meta = model._meta  # noqa: SLF001 - Django's documented door
    concrete = meta.concrete_model or model
    return [meta] if concrete is model else [meta, concrete._meta]  # noqa: SLF001


def _is_user(model: Any) -> bool:  # noqa: ANN401 - a model class
    """Tell whether this is the site's table of users, ours or its own."""
    label = model._meta.label_lower  # noqa: SLF001
    return label == settings.AUTH_USER_MODEL.lower() or hasattr(model, "has_perm")


def _added() -> frozenset[str]:
    return frozenset(map(str.lower, conf.get("SENSITIVE")))


def _opened() -> frozenset[str]:
    return frozenset(map(str.lower, conf.get("NOT_SENSITIVE")))
