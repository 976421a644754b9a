"""Tokens for operators, and what is kept of them."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.management.doctor_parts import count_of_tokens, who_may_call
from ai_assistant.models import AccessToken, AuditEntry
from ai_assistant.safety.identity.tokens import find_valid_token, issue, mark_revoked

pytestmark = pytest.mark.django_db


def run(capsys, *words, **options):
    call_command("assistant_token", *words, **options)
    return capsys.readouterr()


def create(capsys, *more):
    return run(capsys, "create", "--user", "ada", "--name", "Nightly", *more)


class TestCreate:
    def test_secret_is_all_of_the_output(self, people, capsys):
        said = create(capsys, "--scopes", "read, run", "--days", "7")
        token = find_valid_token(said.out.removesuffix("\n"))

        assert (token.user, token.scopes) == (people["ada"], ["read", "run"])
        assert timedelta(6) < token.expires_at - timezone.now() < timedelta(8)
        assert said.out.strip() not in said.err
        assert token.prefix in said.err
        assert "not shown again" in said.err

    def test_end_of_the_site(self, people, capsys):
        create(capsys)
        lasts = AccessToken.objects.get().expires_at - timezone.now()

        assert timedelta(89) < lasts < timedelta(91)

    def test_create_tells_that_the_user_may_not(self, people, capsys):
        assert "ai_assistant.view_assistant" in create(capsys).err
        people["ada"].is_staff = people["ada"].is_superuser = True
        people["ada"].save()
        assert "may not" not in create(capsys).err

    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            (
                ("--scopes", "all"),
                "The scopes “all” are not valid. Give one or more of: read, run, "
                "approve.",
            ),
            (("--scopes", ","), "Give one or more of"),
            (("--days", "366"), "from 1 to 365"),
            (("--days", "0"), "from 1 to 365"),
            (
                ("--forever",),
                "A token must expire on this site. Give its days, at most 365.",
            ),
            (("--forever", "--days", "1"), "do not go together"),
            (("--name", " "), "--name has 0 characters"),
            (("--user", "nobody"), "User 'nobody' does not exist"),
        ],
    )
    def test_bad_input(self, people, capsys, more, sentence):
        with pytest.raises(CommandError, match=sentence):
            create(capsys, *more)

        assert not AccessToken.objects.exists()

    def test_audit_knows_no_person(self, people, capsys):
        create(capsys)
        entry = AuditEntry.objects.get(action="token.created")

        assert (entry.user, entry.details["of"]) == (None, "ada")


class TestListAndRevoke:
    def test_list(self, people, capsys):
        token, secret = issue(people["ada"], "Nightly", ["read"])
        issue(people["bob"], "Of Bob", ["run"])
        mark_revoked(token)

        lines = run(capsys, "list").out.splitlines()
        (own,) = run(capsys, "list", "--user", "ada").out.splitlines()

        assert len(lines) == 2
        assert str(token.pk) in own
        assert "  read  revoked  expires never  used never" in own
        assert secret not in own

    @pytest.mark.parametrize("by", ["pk", "prefix"])
    def test_revoke(self, people, capsys, by):
        token, secret = issue(people["ada"], "Nightly", ["read"])

        assert "Revoked:" in run(capsys, "revoke", str(getattr(token, by))).out
        assert find_valid_token(secret) is None
        with pytest.raises(CommandError, match="was revoked before"):
            run(capsys, "revoke", str(token.pk))

    def test_unknown_or_several(self, people, capsys):
        for _ in range(2):
            issue(people["ada"], "Nightly", ["read"])
        AccessToken.objects.update(prefix="aia_same")

        for named, sentence in (("x", "does not exist"), ("aia_same", "of several")):
            with pytest.raises(CommandError, match=sentence):
                run(capsys, "revoke", named)
        assert not AccessToken.objects.exclude(revoked_at=None).exists()


class TestKept:
    def test_export_has_them_without_digests(self, people, capsys):
        token, secret = issue(people["ada"], "Nightly", ["read"])
        issue(people["bob"], "Of Bob", ["read"])
        call_command("assistant_export", user="ada")
        text = capsys.readouterr().out
        (own,) = json.loads(text)["tokens"]

        assert (own["name"], own["prefix"]) == ("Nightly", token.prefix)
        assert "digest" not in text
        assert token.digest not in text
        assert secret not in text

    @pytest.fixture
    def old(self, people, settings):
        """Of each user one long revoked, one long expired, one just so, one good."""
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"RETENTION": {"TOKEN_DAYS": 30}}
        )
        ago = timezone.now() - timedelta(days=40)
        for user in people.values():
            made = [issue(user, name, ["read"])[0] for name in "abcd"]
            AccessToken.objects.filter(pk=made[0].pk).update(revoked_at=ago)
            AccessToken.objects.filter(pk=made[1].pk).update(expires_at=ago)
            mark_revoked(made[2])

    def names(self):
        rows = AccessToken.objects.order_by("user__username", "name")
        return "".join(rows.values_list("name", flat=True))

    def test_purge_takes_the_long_dead(self, old, capsys):
        call_command("assistant_purge", dry_run=True)
        assert "4 access tokens would be deleted." in capsys.readouterr().out
        assert self.names() == "abcdabcd"

        call_command("assistant_purge")
        assert "4 access tokens deleted." in capsys.readouterr().out
        assert self.names() == "cdcd"
        assert AuditEntry.objects.get(action="tokens.purged").details["tokens"] == 4

    def test_purge_of_one_user(self, old, capsys):
        call_command("assistant_purge", user="ada")

        assert self.names() == "cdabcd"

    def test_none_go_without_the_setting(self, people, settings, old, capsys):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"RETENTION": {"TOKEN_DAYS": None}}
        )

        call_command("assistant_purge", days=1)

        assert self.names() == "abcdabcd"


class TestDoctor:
    def test_doctor_counts(self, people):
        assert count_of_tokens() == (0, 0)
        issue(people["ada"], "a", ["read"], timezone.now() + timedelta(days=1))
        issue(people["ada"], "b", ["read"])
        mark_revoked(issue(people["ada"], "c", ["read"])[0])

        assert count_of_tokens() == (2, 1)

    def test_origins_without_a_token(self, people, settings):
        from ai_assistant.management.doctor import examine

        origins = {"CORS_ORIGINS": ["https://app.example"]}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, origins)
        found = [one for one in examine().problems if one.id == "doctor.cors"]
        assert [one.blocks for one in found] == [False]
        issue(people["ada"], "b", ["read"])
        report = examine()

        assert "doctor.cors" not in [one.id for one in report.problems]
        assert report.facts["access tokens"] == "1 good, 1 of them never expire"
        assert report.facts["pages elsewhere"] == "with a token: https://app.example"
        assert who_may_call() == "with a token: https://app.example"
