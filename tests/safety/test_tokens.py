"""Tokens: made once, told once, good until they end."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.models import AccessToken, AuditEntry
from ai_assistant.safety.identity.tokens import (
    State,
    end_after,
    find_token,
    find_valid_token,
    issue,
    mark_revoked,
    stamp_of,
    state_of,
)
from ai_assistant.safety.policy.sensitive import is_sensitive_model
from ai_assistant.text.redaction.redact import (
    MARK,
    OWN_CHARS,
    OWN_TOKEN,
    Mask,
    redact,
    redact_values,
)
from ai_assistant.tools.data.access.model_admin import visible_models
from ai_assistant.types import RunContext

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return get_user_model().objects.create_superuser("ada", password="first")


class TestIssue:
    def test_issue_stores_a_digest_only(self, ada):
        token, secret = issue(ada, "script", ["run", "read", "run"])
        row = repr(AccessToken.objects.values().get())

        assert secret not in row
        assert secret[4:] not in row
        assert token.prefix == secret[:12]
        assert token.scopes == ["read", "run"]
        assert find_valid_token(secret) == token

    def test_no_two_are_alike(self, ada):
        assert len({issue(ada, "script", ["read"])[1] for _ in range(50)}) == 50

    @pytest.mark.parametrize("scopes", [[], ["all"], ["read", ""]])
    def test_scopes_are_known_ones(self, ada, scopes):
        with pytest.raises(
            Refused, match="Give one or more of: read, run, approve"
        ) as refused:
            issue(ada, "script", scopes)

        assert refused.value.code == "wrong_scopes"
        assert not AccessToken.objects.exists()
        assert not AuditEntry.objects.exists()


class TestEnd:
    @pytest.mark.parametrize("days", [None, 0, -1, 366, 10**12])
    def test_days_are_bounded(self, days):
        with pytest.raises(Refused) as refused:
            end_after(days)

        assert refused.value.code == "wrong_days"
        assert "365" in str(refused.value)

    def test_none_where_the_site_lets(self, settings):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"TOKENS": {"MAX_DAYS": None}}
        )

        assert end_after(None) is None
        assert end_after(9999) > timezone.now() + timedelta(9998)
        with pytest.raises(Refused, match="36500"):
            end_after(10**12)

    def test_run_knows_it(self, ada):
        ends = timezone.now() + timedelta(days=1)
        token, _ = issue(ada, "script", ["read", "run"], ends)
        stamp = stamp_of(token)

        assert (stamp.expires_at, stamp.token_id) == (ends, token.pk)
        assert not stamp.may_answer
        assert stamp_of(issue(ada, "b", ["approve"])[0]).may_answer

    def test_revoked_is_once(self, ada):
        token, secret = issue(ada, "script", ["read"])

        assert mark_revoked(token, by=ada)
        assert not mark_revoked(token, by=ada)
        assert find_valid_token(secret) is None
        assert state_of(find_token(secret)) == State.REVOKED
        assert AuditEntry.objects.filter(action="token.revoked").count() == 1


class TestSecrecy:
    def test_data_tools_do_not_know_the_table(self, ada):
        context = RunContext(user=ada, run_id=uuid4(), conversation_id=uuid4())
        labels = [access.label for access in visible_models(context)]

        assert is_sensitive_model(AccessToken)
        assert "auth.user" in labels
        assert not [one for one in labels if one.startswith("ai_assistant.")]

    def test_secrecy_is_masked_as_the_keys_of_the_site_are(self, ada):
        """Also in what a person types, and in what a model says."""
        _token, secret = issue(ada, "script", ["read"])

        assert len(secret) == OWN_CHARS
        assert OWN_TOKEN.fullmatch(secret)
        for text in (f"It is {secret}.", f'{{"a": "{secret}"}}', f"x={secret}&y"):
            assert secret[4:] not in redact_values(text)
            assert redact(text) == text.replace(secret, MARK)

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 46, 47, 48, 500])
    def test_secrecy_is_masked_however_it_is_cut(self, ada, size):
        _token, secret = issue(ada, "script", ["read"])
        text = f"Data aia {secret} aia_{secret}, a aia_short aia"
        mask = Mask()

        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        told = "".join([*(mask.add(piece) for piece in pieces), mask.end()])

        assert secret[4:] not in told
        assert told.endswith(", a aia_short aia")

    def test_its_beginning_stays(self, ada):
        token, _secret = issue(ada, "script", ["read"])

        assert redact(str(token)) == str(token)
