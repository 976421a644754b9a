from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.text.hidden_characters import split_common_ends

TEXTS = st.text("ab é\n.", max_size=40)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_loses_and_invents_nothing(head, old, new, tail):
    found = split_common_ends(head + old + tail, head + new + tail)

    assert found.head + found.old + found.tail == head + old + tail
    assert found.head + found.new + found.tail == head + new + tail


def test_parts_between_words():
    assert split_common_ends("many words here", "many wooden doors here") == (
        "many ",
        "words",
        "wooden doors",
        " here",
    )


def test_long_texts_with_one_difference():
    head, tail = "some words " * 50_000, " of many" * 50_000

    found = split_common_ends(f"{head}before{tail}", f"{head}after{tail}")

    assert (found.old, found.new) == ("before", "after")
