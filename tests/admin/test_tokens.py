"""Access tokens are made, looked at and revoked; the secret is told once."""

import html
import io
import logging
import re
import uuid
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.identity.tokens import find_valid_token, issue, mark_revoked

pytestmark = pytest.mark.django_db

LIST = reverse("admin:ai_assistant_accesstoken_changelist")
ADD = reverse("admin:ai_assistant_accesstoken_add")
SECRET = re.compile(r"aia_[\w-]{43}")


def page_of(token):
    return reverse("admin:ai_assistant_accesstoken_change", args=[token.pk])


def revocation(*tokens, **fields):
    """Return what is posted to the list to have these tokens revoked."""
    keys = [str(token.pk) for token in tokens]
    return {"action": "revoke_chosen", "_selected_action": keys, **fields}


@pytest.fixture
def sign_in():
    """Sign in a staff user with these permissions of tokens, and others' codenames."""

    def make(*names, name="nora", codes=()):
        user = get_user_model().objects.create_user(name, is_staff=True)
        wanted = [*(f"{one}_accesstoken" for one in names), *codes]
        user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
        client = Client()
        client.force_login(user)
        client.user = user
        return client

    return make


@pytest.fixture
def bob():
    return get_user_model().objects.create_user("bob", is_staff=True)


def posted(**fields):
    own = {
        "name": "Nightly",
        "scopes": ["read", "run"],
        "days": 30,
        "key": uuid.uuid4(),
    }
    return {**own, **fields}


def secret_in(answer):
    (secret,) = set(SECRET.findall(answer.content.decode()))
    return secret


class TestAdd:
    def test_secret_is_shown_on_the_answer(self, sign_in):
        client = sign_in("add")

        answer = client.post(ADD, posted())

        assert answer.status_code == 200
        token = find_valid_token(secret_in(answer))
        assert (token.user, token.name) == (client.user, "Nightly")
        assert token.scopes == ["read", "run"]
        assert timedelta(29) < token.expires_at - timezone.now() < timedelta(31)
        assert "no-store" in answer["Cache-Control"]
        assert answer["Referrer-Policy"] == "no-referrer"

    def test_and_nowhere_else(self, sign_in, caplog):
        client = sign_in("add")
        stream = io.StringIO()
        handler = logging.StreamHandler(stream)
        logging.getLogger().addHandler(handler)
        try:
            answer = client.post(ADD, posted())
        finally:
            logging.getLogger().removeHandler(handler)
        secret = secret_in(answer)
        token = AccessToken.objects.get()
        after = [client.get(one) for one in (LIST, page_of(token), "/admin/")]

        sinks = {
            "logs": stream.getvalue(),
            "address": answer.request["PATH_INFO"] + answer.request["QUERY_STRING"],
            "headers": repr(answer.headers),
            "cookies": repr(client.cookies),
            "session": repr(dict(client.session)),
            "tables": everything(),
            "pages": "".join(one.content.decode() for one in after),
        }
        assert [name for name, text in sinks.items() if secret[4:] in text] == []
        assert token.prefix in sinks["pages"]
        assert token.prefix in LogEntry.objects.get().object_repr
        assert 'id="aia"' not in answer.content.decode()  # the assistant reads pages

    def test_audit_tells_all_but_the_secret(self, sign_in):
        sign_in("add").post(ADD, posted())
        entry = AuditEntry.objects.get(action="token.created")

        assert entry.user_name == "nora"
        assert entry.details["of"] == "nora"
        assert entry.details["scopes"] == ["read", "run"]
        assert entry.details["prefix"] == AccessToken.objects.get().prefix

    def test_sent_again_makes_no_second(self, sign_in):
        client, fields = sign_in("add"), posted()
        client.post(ADD, fields)

        answer = client.post(ADD, fields)

        assert "created already" in answer.content.decode()
        assert not SECRET.search(answer.content.decode())
        assert AccessToken.objects.count() == 1

    @pytest.mark.parametrize(
        ("wrong", "sentence"),
        [
            ({"scopes": []}, "This field is required."),
            ({"scopes": ["read", "all"]}, "all is not one of the available choices"),
            (
                {"days": 366},
                "“366” is not valid. Give a number of days from 1 to 365.",
            ),
            ({"days": 0}, "greater than or equal to 1"),
            ({"days": ""}, "This field is required."),
            ({"days": "x"}, "Enter a whole number."),
            ({"name": " "}, "This field is required."),
            ({"name": "x" * 101}, "at most 100 characters"),
            ({"key": "x"}, "Please correct the error"),
        ],
    )
    def test_bad_input_is_told(self, sign_in, wrong, sentence):
        answer = sign_in("add").post(ADD, posted(**wrong))

        assert answer.status_code == 200
        assert sentence in html.unescape(answer.content.decode())
        assert not AccessToken.objects.exists()

    def test_add_for_ever_where_the_site_lets(self, sign_in, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"TOKENS": {"MAX_DAYS": None}}
        )
        client = sign_in("add")

        assert client.post(ADD, posted(days="")).status_code == 200
        assert AccessToken.objects.get().expires_at is None
        answer = client.post(ADD, posted(days=10**12))
        assert "is not valid. Give a number of days" in html.unescape(
            answer.content.decode()
        )


def everything():
    told = []
    for model in apps.get_models():
        if model._meta.managed:
            with connection.cursor() as cursor:
                cursor.execute(f'SELECT * FROM "{model._meta.db_table}"')  # noqa: S608
                told.append(repr(cursor.fetchall()))
    return "".join(told)


class TestWhose:
    def test_others_are_not_for_everybody(self, sign_in, bob):
        token, _ = issue(bob, "Of Bob", ["read"])
        client = sign_in("add", "view", "change", "delete")

        assert "Of Bob" not in client.get(LIST).content.decode()
        assert client.get(page_of(token), follow=True).redirect_chain
        client.post(LIST, revocation(token, confirmed="yes"))
        delete = reverse("admin:ai_assistant_accesstoken_delete", args=[token.pk])
        client.post(delete, {"post": "yes"})
        token.refresh_from_db()
        assert token.revoked_at is None

    def test_user_cannot_be_chosen_without_it(self, sign_in, bob):
        client = sign_in("add")

        client.post(ADD, posted(user=bob.pk))

        assert AccessToken.objects.get().user == client.user

    def test_manager_makes_and_sees_those_of_others(self, sign_in, bob):
        client = sign_in("manage")

        assert (
            find_valid_token(secret_in(client.post(ADD, posted(user=bob.pk)))).user
            == bob
        )
        assert "Nightly" in client.get(LIST).content.decode()
        entry = AuditEntry.objects.get(action="token.created")
        assert (entry.user_name, entry.details["of"]) == ("nora", "bob")

    def test_manager_gains_no_right_by_it(self, sign_in, bob):
        client = sign_in("manage")
        bob.user_permissions.set(Permission.objects.filter(codename="delete_user"))
        boss = get_user_model().objects.create_superuser("boss")

        for other in (bob, boss):
            answer = client.post(ADD, posted(user=other.pk))
            assert "has permissions that you do not have" in answer.content.decode()
        assert not AccessToken.objects.exists()

    def test_superuser_may(self, admin_client, bob):
        bob.user_permissions.set(Permission.objects.filter(codename="delete_user"))

        assert (
            find_valid_token(
                secret_in(admin_client.post(ADD, posted(user=bob.pk)))
            ).user
            == bob
        )

    @pytest.mark.parametrize(
        ("held", "list_status", "add_status"),
        [((), 403, 403), (("view",), 200, 403), (("add",), 200, 200)],
    )
    def test_permission_is_asked(self, sign_in, held, list_status, add_status):
        client = sign_in(*held)

        assert client.get(LIST).status_code == list_status
        assert client.get(ADD).status_code == add_status

    def test_off_hides_them(self, sign_in, settings):
        client = sign_in("add", "view", "manage")
        settings.AI_ASSISTANT = {"ENABLED": False}

        for address in (LIST, ADD):
            assert client.get(address).status_code == 403
        assert client.post(LIST, revocation()).status_code == 403


def end(token):
    AccessToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def new_password(token):
    token.user.set_password("second")
    token.user.save()


class TestLooking:
    def test_nothing_can_be_changed(self, sign_in):
        client = sign_in("add", "view", "change")
        token, _ = issue(client.user, "Mine", ["read"])
        page = client.get(page_of(token)).content.decode()

        assert "read conversations, runs and changes" in page
        assert 'name="scopes"' not in page
        assert token.digest not in page
        answer = client.post(page_of(token), posted(scopes=["approve"]))
        assert answer.status_code == 403
        token.refresh_from_db()
        assert token.scopes == ["read"]

    @pytest.mark.parametrize(
        ("way", "word"),
        [
            (lambda token: None, "good"),
            (mark_revoked, "revoked"),
            (end, "expired"),
            (new_password, "password changed"),
        ],
    )
    def test_list_tells_the_state(self, sign_in, way, word):
        client = sign_in("add")
        token, _ = issue(client.user, "Mine", ["read"])
        way(token)
        client.force_login(get_user_model().objects.get(pk=client.user.pk))

        page = client.get(LIST).content.decode()

        assert f'<td class="field-state">{word}</td>' in page

    def test_search_and_filters(self, admin_client, bob):
        issue(bob, "Of Bob", ["read"])

        for query in ("q=bob", "q=Of", "revoked_at__isempty=1"):
            assert "Of Bob" in admin_client.get(f"{LIST}?{query}").content.decode()


class TestRevoke:
    def test_button_asks_then_revokes(self, sign_in):
        client = sign_in("add")
        token, secret = issue(client.user, "Mine", ["read"])
        button = '<input type="hidden" name="action" value="revoke_chosen">'
        assert button in client.get(page_of(token)).content.decode()

        asked = client.post(LIST, revocation(token)).content.decode()
        assert "cannot be taken back" in asked
        assert find_valid_token(secret) is not None
        answer = client.post(LIST, revocation(token, confirmed="yes"), follow=True)

        assert "1 access token was revoked." in answer.content.decode()
        assert find_valid_token(secret) is None
        assert AuditEntry.objects.get(action="token.revoked").user_name == "nora"
        assert button not in client.get(page_of(token)).content.decode()
        assert LogEntry.objects.get().change_message == "Revoked."

    def test_action_asks_then_revokes(self, admin_client, bob):
        tokens = [issue(bob, f"T{number}", ["read"])[0] for number in range(3)]
        keys = [str(token.pk) for token in tokens[:2]]

        asked = admin_client.post(LIST, revocation(*tokens[:2])).content.decode()
        assert re.findall(r'"_selected_action" value="([^"]+)"', asked) == keys[::-1]
        assert not AccessToken.objects.exclude(revoked_at=None).exists()
        admin_client.post(LIST, revocation(*tokens[:2], confirmed="yes"))
        assert AccessToken.objects.exclude(revoked_at=None).count() == 2

    def test_again_changes_nothing(self, admin_client, bob):
        token, _ = issue(bob, "T", ["read"])
        confirmed = revocation(token, confirmed="yes")
        admin_client.post(LIST, confirmed)
        token.refresh_from_db()
        then = token.revoked_at
        answer = admin_client.post(LIST, confirmed, follow=True)
        token.refresh_from_db()

        assert "0 access tokens were revoked." in answer.content.decode()
        assert token.revoked_at == then
        assert AuditEntry.objects.filter(action="token.revoked").count() == 1

    def test_revoke_needs_csrf(self, sign_in):
        user = sign_in("add").user
        token, _ = issue(user, "T", ["read"])
        client = Client(enforce_csrf_checks=True)
        client.force_login(user)

        confirmed = revocation(token, confirmed="yes")
        assert client.post(LIST, confirmed).status_code == 403

    def test_deleting_revokes_first(self, admin_client, bob):
        one, two = issue(bob, "One", ["read"])[0], issue(bob, "Two", ["read"])[0]
        delete = reverse("admin:ai_assistant_accesstoken_delete", args=[one.pk])
        admin_client.post(delete, {"post": "yes"})
        fields = {
            "action": "delete_selected",
            "_selected_action": two.pk,
            "post": "yes",
        }
        admin_client.post(LIST, fields)

        assert not AccessToken.objects.exists()
        revoked = AuditEntry.objects.filter(action="token.revoked").order_by("id")
        assert [entry.details["name"] for entry in revoked] == ["One", "Two"]

    def test_user_with_tokens_can_be_deleted(self, sign_in, bob):
        issue(bob, "One", ["read"])
        codes = ("view_user", "delete_user", "delete_conversation")
        client = sign_in(codes=codes)
        delete = reverse("admin:auth_user_delete", args=[bob.pk])

        assert client.post(delete, {"post": "yes"}).status_code == 302
        assert not AccessToken.objects.exists()
