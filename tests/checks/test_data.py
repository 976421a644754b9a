"""A model that is left alone has to exist."""

import pytest

from ai_assistant.checks.data import check_data


@pytest.mark.parametrize("label", ["library.book", "Library.Book"])
def test_known_model(settings, label):
    settings.AI_ASSISTANT = {"DATA_MODELS_EXCLUDED": [label]}

    assert check_data() == []


@pytest.mark.parametrize("label", ["library.nothing", "book", "", 1])
def test_unknown_model(settings, label):
    settings.AI_ASSISTANT = {"DATA_MODELS_EXCLUDED": [label]}

    (message,) = check_data()
    assert message.id == "ai_assistant.E130"
    assert f"names {label!r}, and there is no such model." in message.msg
