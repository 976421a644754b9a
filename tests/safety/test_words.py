"""A value counts as typed only word for word, as a whole, and with nothing hidden."""

import pytest

from ai_assistant.safety.policy.typed_text import TypedWords, is_deceptive


def typed(text, value):
    words = TypedWords((text,))
    return words.has_text(value) if isinstance(value, str) else words.has_number(value)


class TestText:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("Rename it to Winter survey.", "Winter survey"),
            ("Rename it to “Winter survey”!", "Winter survey"),
            ("rename it to WINTER   survey", "Winter Survey"),
            ("title=Winter", "Winter"),
            ("(Winter)", "Winter"),
            ("把标题改为「冬季」。", "冬季"),
            ("write to ann@shop.example, please", "ann@shop.example"),
            ("call it it’s done", "it's done"),
            ("call it it's done", "it’s done"),
            ("Café au lait", "Cafe\u0301 au lait"),
            ("the name is Ｗｉｎｔｅｒ", "Winter"),
            ("the name is Ｗｉｎｔｅｒ", "Ｗｉｎｔｅｒ"),
            ("set it to 007", "007"),
            ("on 2026-05-01 it opens", "2026-05-01"),
            ("two lines:\nfirst\nsecond", "first\nsecond"),
            ("Straße 5", "straße 5"),
        ],
    )
    def test_text_stands_there(self, text, value):
        assert typed(text, value)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            # a word of the person within the attacker's value
            ("pay Ann", "pay Ann and Mallory"),
            ("write to ann@shop.example", "ann@shop.example.evil.example"),
            ("write to ann@shop.example", "mallory+ann@shop.example"),
            # the attacker's value within a word of the person
            ("the annual report", "ann"),
            ("the annual report", "al"),
            ("write to bob@shop.example", "bob"),
            ("write to bob@shop.example", "shop.example"),
            ("see https://shop.example/a/b", "b"),
            ("O'Brien", "Brien"),
            ("O'Brien", "O"),
            ("ann-marie", "ann"),
            ("at 10:30", "30"),
            ("for 12,50", "50"),
            ("for 12,50", "12"),
            ("order 2500", "5"),
            ("foo_bar", "bar"),
            # nothing at all
            ("pay Ann", ""),
            ("pay Ann", "  "),
            # what looks alike
            ("pay Ann", "\u0410nn"),  # a Cyrillic A
            ("pay \u0410nn", "\u0410nn"),  # also if it was pasted
            ("pay paypal", "\u0440\u0430\u0443\u0440\u0430l"),
            ("pay Ann", "Ａnn"),  # a full-width A
            ("pay boss", "bo\u017fs"),  # a long s
            ("pay Ann", "𝐀nn"),  # a mathematical A
            ("office", "o\ufb03ce"),  # a ligature
            # what is not seen
            ("pay Ann", "A\u200bnn"),
            ("pay Ann", "Ann\u200b"),
            ("pay A\u200bnn", "A\u200bnn"),
            ("pay Ann", "\u202eAnn"),
            ("pay Ann", "Ann\U000e0041"),
            ("pay Ann", "Ann\u00ad"),
            ("pay Ann", "Ann\ufe0f"),
            ("pay Ann", "Ann\u3164"),
            ("pay Ann", "Ann\u2800"),
            ("pay Ann", "Ann\x00"),
            ("pay Ann", "Ann\x1b[31m"),
            ("pay Ann now", "Ann\u2028now"),
            ("pay Ann now", "Ann\u00a0now"),
        ],
    )
    def test_text_does_not_stand_there(self, text, value):
        assert not typed(text, value)

    def test_text_is_not_put_together_from_two_messages(self):
        words = TypedWords(("pay Ann", "and Bob"))

        assert words.has_text("and Bob")
        assert not words.has_text("Ann and Bob")

    def test_long_texts_take_no_long_time(self):
        words = TypedWords(("a" * 100_000,))

        assert not words.has_text("a")


class TestNumber:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("order 5", 5),
            ("order #5, please", 5),
            ("orders 5, 7 and 9.", 9),
            ("id=5", 5),
            ("12.50 €", 12.5),
            ("€12.50", 12.5),
            ("by 20%", 20),
            ("minus -3", -3),
            ("１２", 12),
            ("(5)", 5.0),
        ],
    )
    def test_number_stands_there(self, text, value):
        assert typed(text, value)

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("order 2500", 5),
            ("order 2500", 25),
            ("order-5", 5),
            ("2026-05-01", 5),
            ("-5", 5),
            ("5", -5),
            ("1,000", 1),
            ("1,000", 0),
            ("12,50", 50),
            ("v1.2.3", 2),
            ("5kg", 5),
            ("five", 5),
            ("1e3", 1000),
            ("5", 10**400),
            ("5", float("inf")),
            ("5", float("nan")),
        ],
    )
    def test_number_does_not_stand_there(self, text, value):
        assert not typed(text, value)


class TestDeceptive:
    @pytest.mark.parametrize(
        "text", ["Ann", "Анна", "Ann Анна", "日本 Ann", "Ωmega is none", "ñandú\n\tx"]
    )
    def test_plain(self, text):
        assert is_deceptive(text) is (text == "Ωmega is none")

    def test_words_of_two_scripts(self):
        assert is_deceptive("pаypal")  # the first a is Cyrillic
