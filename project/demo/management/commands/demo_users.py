from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from ai_assistant.models import Memory

ASSISTANT = (
    *("view_assistant", "use_assistant"),
    *("share_conversation", "view_shared_conversations"),
)
REMEMBERED = "The weekly report is for the meeting on Tuesday."
DEMO = ("questionnaires", "wiki", "discover")


class Command(BaseCommand):
    """Make the users of the demo: password like the name, and safe to repeat."""

    help = "Make the users admin (superuser), editor and viewer (staff)."

    def handle(self, *args: Any, **options: Any) -> None:
        admin = self._user("admin", is_superuser=True)
        Memory.objects.get_or_create(
            owner=admin,
            text=REMEMBERED,
            defaults={"author": admin, "words": Memory.Words.USER},
        )
        self._user("editor", actions=("view", "add", "change"))
        self._user("viewer", actions=("view",))

    def _user(self, name, *, actions=(), is_superuser=False):
        user, new = get_user_model().objects.get_or_create(
            username=name,
            defaults={
                "email": f"{name}@example.com",
                "is_staff": True,
                "is_superuser": is_superuser,
            },
        )
        if new:
            user.set_password(name)
            user.save(update_fields=["password"])
        if not is_superuser:
            user.user_permissions.set(_permissions(actions))
        return user


def _permissions(actions):
    demo = Q(content_type__app_label__in=DEMO)
    verbs = Q(
        *(("codename__startswith", f"{verb}_") for verb in actions), _connector=Q.OR
    )
    own = Q(content_type__app_label="ai_assistant", codename__in=ASSISTANT)
    found = list(Permission.objects.filter(demo & verbs | own))
    known = {permission.codename for permission in found}
    if missing := [name for name in ASSISTANT if name not in known]:
        raise CommandError(
            f"The permission 'ai_assistant.{missing[0]}' does not exist. "
            "Run `python manage.py migrate` first."
        )
    return found
