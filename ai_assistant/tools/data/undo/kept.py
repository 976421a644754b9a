"""The permissions of a person, asked once for what is done in several transactions."""

from collections.abc import Callable, Iterable, Mapping
from time import monotonic
from typing import Any, TypeVar, cast

from django.db.models import Model

from ai_assistant.changes.capture.images import Image
from ai_assistant.tools.data.undo.permissions import AdminPermissions

T = TypeVar("T")

KEPT_S = 10.0  # for which an answer holds


class KeptPermissions:
    """
    The permissions of a person, for rows that are as they were: each is asked once.

    Not for long: what the site says may depend on anything.
    """

    def __init__(self, user: Any) -> None:
        self._rights = _rights_of(user)
        self._until = monotonic() + KEPT_S
        self._permissions = AdminPermissions(user)
        self._answers: dict[Any, Any] = {}

    def are_of(self, user: Any) -> bool:
        """Return whether they still hold for the person, as it is now."""
        return monotonic() < self._until and self._rights == _rights_of(user)

    def look_at(self, objects: Iterable[Model]) -> None:
        """Read at once what is to be known of all of these, before each is asked."""
        self._permissions.look_at(objects)

    def to_change(self, obj: Model, raws: Mapping[str, Any]) -> dict[str, str]:
        """Return why columns may not be changed, by attname; "" is the whole object."""
        ask = self._permissions.to_change
        return self._kept((obj._meta.label, obj.pk, *raws), lambda: ask(obj, raws))

    def to_create(self, instance: Model) -> str:
        """Return why the object may not be added again."""
        name = ("create", instance._meta.label, instance.pk)
        return self._kept(name, lambda: self._permissions.to_create(instance))

    def to_delete(self, obj: Model) -> str:
        """Return why the object may not be deleted."""
        name = ("delete", obj._meta.label, obj.pk)
        return self._kept(name, lambda: self._permissions.to_delete(obj))

    def to_link(self, through: Any, image: Image) -> str:
        """Return why two objects may not be linked, or their link removed."""
        name = (through, *image.values())
        return self._kept(name, lambda: self._permissions.to_link(through, image))

    def _kept(self, name: Any, ask: Callable[[], T]) -> T:
        if name not in self._answers:
            self._answers[name] = ask()
        return cast("T", self._answers[name])


def _rights_of(user: Any) -> tuple[Any, ...]:
    return user.is_active, user.is_staff, user.is_superuser, user.get_all_permissions()
