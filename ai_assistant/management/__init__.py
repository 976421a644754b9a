"""Users by the name that a person types."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError


def user_named(name: str) -> Any:
    """Return the user of that name. Raise CommandError if there is none."""
    model = get_user_model()
    user = model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()
    if user is None:
        raise CommandError(f"User {name!r} does not exist. Check the name.")
    return user
