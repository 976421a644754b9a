"""A model that is left alone has to exist."""

import re

import pytest
from django.core.checks import INFO, run_checks
from django.db import models

from ai_assistant.checks.safety import _is_suspect, check_data, check_secrets
from tests.warehouse.models import Supplier


@pytest.mark.parametrize("label", ["library.book", "Library.Book"])
def test_known_model(settings, label):
    settings.AI_ASSISTANT = {"DATA": {"MODELS_EXCLUDED": [label]}}

    assert not list(check_data())


@pytest.mark.parametrize("label", ["library.nothing", "book", "", 1])
def test_unknown_model(settings, label):
    settings.AI_ASSISTANT = {"DATA": {"MODELS_EXCLUDED": [label]}}

    (message,) = check_data()
    assert message.id == "ai_assistant.E130"
    assert f"names {label!r}, but there is no such model." in message.msg


class TestSuspects:
    def test_suspects_are_named_with_what_to_set(self, settings):
        settings.AI_ASSISTANT = {}

        (message,) = check_secrets()

        assert message.id == "ai_assistant.I131"
        assert message.level == INFO
        assert "warehouse.supplier.code" in message.msg
        assert "api_key" not in message.msg
        assert "SENSITIVE" in message.hint

    @pytest.mark.parametrize("setting", ["SENSITIVE", "NOT_SENSITIVE"])
    def test_suspects_are_none_once_they_are_named(self, settings, setting):
        settings.AI_ASSISTANT = {}
        (message,) = check_secrets()
        named = re.findall(r"[a-z_]+\.[a-z_]+\.[a-z_]+", message.msg)
        settings.AI_ASSISTANT = {"DATA": {setting: named}}

        assert not list(check_secrets())

    @pytest.mark.parametrize(
        ("name", "is_named"),
        [
            *(("pickup_code", True), ("sha_digest", True), ("seed", True)),
            *(("gameSeed", True), ("postal_code", False), ("zip_code", False)),
            *(("api_key", False), ("totp_seed", False), ("keyboard", False)),
        ],
    )
    def test_suspects_by_their_names(self, name, is_named):
        field = models.CharField(name=name)
        field.model = Supplier

        assert _is_suspect(field) is is_named

    def test_suspects_are_asked_for_before_deployment_only(self):
        def found(**how):
            return {message.id for message in run_checks(tags=["ai_assistant"], **how)}

        assert "ai_assistant.I131" not in found()
        assert "ai_assistant.I131" in found(include_deployment_checks=True)
