"""Which names of fields are secrets, however they are written."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import models

from ai_assistant import conf
from ai_assistant.safety.policy.sensitive import is_sensitive_field, is_sensitive_model
from project.questionnaires.models import Questionnaire


def named(name):
    field = models.CharField(name=name)
    field.model = Questionnaire
    return field


@pytest.mark.row("C15")
class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "apiKey",
            "userAPIKey",
            "userPassword",
            "api_keys",
            "tokens",
            "password2",
            "token_1",
            "pin",
            "password_hashes",
            "passphrase",
            "db_pwd",
            "credentials",
            "access_key",
            "signing_key",
            "authtoken",
            "accesstoken",
            "clientsecret",
            "client_secret",
            "passcode",
            "auth-key",
            "totpSeed",
            "recovery_codes",
        ],
    )
    def test_secret(self, name):
        assert is_sensitive_field(named(name))

    @pytest.mark.parametrize(
        "name", ["title", "is_pinned", "pinned", "hashtag", "salty", "passed", "key"]
    )
    def test_ordinary(self, name):
        assert not is_sensitive_field(named(name))


@pytest.fixture
def proxy():
    class Right(Permission):
        class Meta:
            proxy = True
            app_label = "testapp"

    yield Right
    del apps.all_models["testapp"]["right"]
    apps.clear_cache()


def test_proxy_is_as_secret_as_its_table(proxy, settings):
    assert is_sensitive_model(proxy)

    opened = {"DATA": {"NOT_SENSITIVE": ["auth.permission"]}}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, opened)
    assert not is_sensitive_model(proxy)
