"""The second factor, entered on the package's own pages, opens the tools."""

import pytest
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from ai_assistant import ModelRetry
from tests.hosts.packages.context import context_on, use
from tests.hosts.packages.sites.two_factor import cases

LOGIN = "/account/login/"


@pytest.fixture(autouse=True)
def device(boss):
    cases.make()
    return TOTPDevice.objects.create(user=boss, name="default")


def entered(step, **values):
    own = {f"{step}-{name}": value for name, value in values.items()}
    return {"login_view-current_step": step, **own}


def token(device):
    from django_otp.oath import TOTP

    totp = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    return f"{totp.token():06}"


def test_tools_of_a_person_who_has_entered_the_token(boss, device):
    client = Client()
    password = entered("auth", username="ada", password="hunter2hunter2")
    client.post(LOGIN, password)
    done = client.post(LOGIN, entered("token", otp_token=token(device)))
    assert done.status_code == 302
    context = context_on("/admin/host/poll/1/change/", client, boss)

    assert use(context, "get_object", model="host.poll", id=1)["id"] == 1


def test_no_tools_without_it(boss):
    client = Client()
    client.force_login(boss)
    assert client.get("/admin/").status_code == 302
    context = context_on("/admin/host/poll/1/change/", client, boss)

    with pytest.raises(ModelRetry, match="There is no model"):
        use(context, "get_object", model="host.poll", id=1)
