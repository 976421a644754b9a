from django_otp.plugins.otp_static.models import StaticDevice

from tests.hosts.packages.polls import POLLS, make_polls

CASES = POLLS
SECOND_FACTOR = True  # without it the admin is closed


def make() -> None:
    make_polls()


def sign_in(client, user) -> None:
    device = StaticDevice.objects.create(user=user, name="key")
    session = client.session
    session["otp_device_id"] = device.persistent_id
    session.save()
