"""Who calls: a session with its CSRF token, or an access token with its scopes."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.identity.tokens import issue, mark_revoked

pytestmark = pytest.mark.django_db

EVERY = ("read", "run", "approve")


@pytest.fixture(autouse=True)
def _door(settings):
    settings.ROOT_URLCONF = "tests.web.door"
    cache.clear()


@pytest.fixture
def nora():
    nora = get_user_model().objects.create_user("nora", password="x", is_staff=True)
    codes = ("view_assistant", "use_assistant")
    nora.user_permissions.set(Permission.objects.filter(codename__in=codes))
    return nora


@pytest.fixture
def made(nora):
    token, secret = issue(nora, "script", EVERY)
    return token, secret


def call(secret, does="look", **options):
    headers = {"Authorization": f"Bearer {secret}"}
    client = options.pop("client", None) or Client(enforce_csrf_checks=True)
    return client.post(f"/door/{does}/", headers=headers, **options)


def refusal(response):
    return response.status_code, response.json()["code"]


class TestToken:
    def test_token_acts_as_its_user_without_csrf(self, made):
        response = call(made[1])

        assert response.json() == {"user": "nora", "scopes": ["read", "run", "approve"]}

    def test_token_goes_before_a_session(self, made):
        other = get_user_model().objects.create_superuser("ada")
        client = Client(enforce_csrf_checks=True)
        client.force_login(other)

        assert call(made[1], client=client).json()["user"] == "nora"
        assert refusal(call("aia_wrong", client=client)) == (401, "signed_out")

    @pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
    def test_scheme_is_in_any_case(self, made, client, scheme):
        headers = {"Authorization": f"{scheme} {made[1]}"}

        assert client.get("/door/look/", headers=headers).status_code == 200

    @pytest.mark.parametrize(
        "secret", ["", "aia_", "x", "aia_" + "x" * 43, "\x00", "é" * 9, "a" * 5000]
    )
    def test_unknown_one_is_signed_out(self, nora, secret):
        response = call(secret)

        assert refusal(response) == (401, "signed_out")
        assert response["WWW-Authenticate"].startswith("Bearer")

    @pytest.mark.parametrize(
        ("scopes", "does", "status"),
        [
            (("read",), "look", 200),
            (("read",), "run", 403),
            (("run",), "look", 403),
            (("run",), "run", 200),
            (("run",), "answer", 403),
        ],
    )
    def test_scope_is_asked(self, nora, scopes, does, status):
        _token, secret = issue(nora, "script", scopes)
        response = call(secret, does)

        assert response.status_code == status
        if status == 403:
            assert refusal(response) == (403, "scope")

    def test_use_is_noted_at_most_each_minute(self, made):
        token, secret = made
        call(secret)
        token.refresh_from_db()
        first = token.last_used_at
        call(secret)
        token.refresh_from_db()

        assert first is not None
        assert token.last_used_at == first


def revoke(token):
    mark_revoked(token)


def expire(token):
    AccessToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def change_password(token):
    token.user.set_password("second")
    token.user.save()


def deactivate(token):
    token.user.is_active = False
    token.user.save()


def take_staff(token):
    token.user.is_staff = False
    token.user.save()


def take_permissions(token):
    token.user.user_permissions.clear()


def remove(token):
    token.delete()


class TestEnds:
    @pytest.mark.parametrize(
        ("way", "expected", "word"),
        [
            (revoke, (401, "signed_out"), "revoked"),
            (expire, (401, "signed_out"), "expired"),
            (change_password, (401, "signed_out"), "password"),
            (deactivate, (401, "signed_out"), "deactivated"),
            (remove, (401, "signed_out"), "unknown"),
            (take_staff, (403, "permission"), "permission"),
            (take_permissions, (403, "permission"), "permission"),
        ],
    )
    def test_next_request_is_refused(self, made, way, expected, word):
        token, secret = made
        assert call(secret).status_code == 200
        way(AccessToken.objects.get())

        response = call(secret)

        assert refusal(response) == expected
        assert word in response.json()["detail"]

    def test_attempt_is_in_the_audit_log_once_an_hour(self, made):
        token, secret = made
        mark_revoked(token)
        for _ in range(3):
            call(secret)
        entries = AuditEntry.objects.filter(action="token.refused")

        assert entries.get().details["because"] == "revoked"
        assert secret not in str(entries.get().details)
        AccessToken.objects.update(refused_at=timezone.now() - timedelta(hours=2))
        call(secret)
        assert entries.count() == 2

    def test_new_key_of_the_site_keeps_it(self, made, settings):
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "another-key-of-this-site-for-a-test"

        assert call(made[1]).status_code == 200
        settings.SECRET_KEY_FALLBACKS = []
        assert call(made[1]).status_code == 200

    def test_key_that_is_gone_ends_it(self, made, settings):
        settings.SECRET_KEY = "another-key-of-this-site-for-a-test"

        assert refusal(call(made[1])) == (401, "signed_out")


class TestManyUnknown:
    @pytest.fixture(autouse=True)
    def _few(self, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"RATES": {"UNKNOWN_TOKENS": "2/h"}}
        )

    def test_many_unknown_are_told_to_wait(self, nora):
        answers = [call(f"aia_{number}") for number in range(4)]

        assert [one.status_code for one in answers] == [401, 401, 429, 429]
        assert 0 < int(answers[-1]["Retry-After"]) <= 3600
        assert answers[-1].json()["code"] == "limited"

    def test_others_of_the_address_are_not_held_up(self, made, nora):
        for number in range(4):
            call(f"aia_{number}")
        dead, its_secret = issue(nora, "old", EVERY)
        mark_revoked(dead)

        assert call(made[1]).status_code == 200
        assert refusal(call(its_secret)) == (401, "signed_out")
        assert call("aia_x", REMOTE_ADDR="10.0.0.9").status_code == 401

    @pytest.mark.parametrize(
        "backend",
        [
            "django.core.cache.backends.dummy.DummyCache",
            "tests.web.broken_cache.BrokenCache",
        ],
    )
    def test_cache_that_cannot_count_holds_nobody_up(self, nora, settings, backend):
        settings.CACHES = {"default": {"BACKEND": backend}}

        assert [call("aia_x").status_code for _ in range(4)] == [401] * 4

    def test_many_unknown_may_be_turned_off(self, nora, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"RATES": {"UNKNOWN_TOKENS": ""}}
        )

        assert [call("aia_x").status_code for _ in range(4)] == [401] * 4


class TestSession:
    def test_session_needs_csrf(self, nora):
        client = Client(enforce_csrf_checks=True)
        client.force_login(nora)

        assert refusal(client.post("/door/look/")) == (403, "csrf")
        client.cookies["csrftoken"] = "a" * 32
        headers = {"X-CSRFToken": "a" * 32}
        answer = client.post("/door/look/", headers=headers)
        assert answer.json() == {"user": "nora", "scopes": None}

    def test_other_scheme_is_no_token(self, nora):
        client = Client()
        client.force_login(nora)
        headers = {"Authorization": "Basic eDp5"}  # of a proxy before the site

        assert client.get("/door/look/", headers=headers).status_code == 200

    def test_nobody_is_signed_out(self, client):
        assert refusal(client.get("/door/look/")) == (401, "signed_out")
