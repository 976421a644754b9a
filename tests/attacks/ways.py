"""The ways in which a person loses the right to go on."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session

from tests.attacks.person import Person


def sign_out(person: Person) -> None:
    assert person.client.post("/admin/logout/").status_code == 200


def remove_session(person: Person) -> None:
    """As a package does that signs out other devices: no signal tells of it."""
    key = person.client.session.session_key
    assert Session.objects.filter(session_key=key).delete()[0] == 1


def change_password(person: Person) -> None:
    fresh = get_user_model().objects.get(pk=person.user.pk)
    fresh.set_password("second")
    fresh.save()


def deactivate(person: Person) -> None:
    get_user_model().objects.filter(pk=person.user.pk).update(is_active=False)


def take_staff(person: Person) -> None:
    get_user_model().objects.filter(pk=person.user.pk).update(is_staff=False)


def take_use(person: Person) -> None:
    person.user.user_permissions.clear()


def take_permission(person: Person) -> None:
    """Take what the tool wants, and leave the assistant."""
    Group.objects.get(name="editors").permissions.clear()


def take_group(person: Person) -> None:
    person.user.groups.clear()


def remove_group(person: Person) -> None:
    Group.objects.get(name="editors").delete()


WAYS = (
    sign_out,
    remove_session,
    change_password,
    deactivate,
    take_staff,
    take_use,
    take_permission,
    take_group,
    remove_group,
)
