from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.hosts.packages.polls import POLLS, make_polls

CASES = POLLS
SECOND_FACTOR = True  # without it the admin is closed


def make() -> None:
    make_polls()


def sign_in(client, user) -> None:
    device = TOTPDevice.objects.create(user=user, name="default")
    session = client.session
    session["otp_device_id"] = device.persistent_id
    session.save()
