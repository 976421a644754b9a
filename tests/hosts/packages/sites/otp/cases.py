from django_otp.plugins.otp_static.models import StaticDevice

from tests.hosts.packages.polls import POLLS, make_polls

CASES = POLLS


def make() -> None:
    make_polls()


def sign_in(client, user) -> None:
    device = StaticDevice.objects.create(user=user, name="key")
    session = client.session
    session["otp_device_id"] = device.persistent_id
    session.save()
