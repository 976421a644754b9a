"""Values as the person reads them, without characters that a card would mark."""

from decimal import Decimal

import pytest
from django.utils.translation import override

from ai_assistant.changes.display import plain_text
from ai_assistant.text.hidden_characters import mark_hidden_characters
from tests.warehouse.models import Product


@pytest.mark.parametrize(
    ("value", "field", "text"),
    [
        (1234567, None, "1 234 567"),
        (Decimal("1234.5"), None, "1 234,5"),
        (Decimal("1234.50"), "price", "1 234,50"),
    ],
)
def test_numbers_of_a_language_with_blanks_in_them(settings, value, field, text):
    settings.USE_THOUSAND_SEPARATOR = True
    column = Product._meta.get_field(field) if field else None

    with override("fr"):
        shown = plain_text(value, column)

    assert shown == mark_hidden_characters(shown) == text


def test_blanks_of_a_text_stay_to_be_seen():
    assert plain_text("a\u00a0b") == "a\u00a0b"
    assert "NBSP" in mark_hidden_characters(plain_text("a\u00a0b"))
