"""Each kind of question: what may be answered, and what the tool is given."""

import pytest
from django.contrib.auth.models import Group
from django.db.models import TextChoices

from ai_assistant import Ask, RunContext
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given, refusal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("Q05")]

SIZES = (
    {"id": "s", "label": "Small", "description": "up to 10"},
    {"id": "m", "label": "Medium"},
    {"id": 3, "label": "Large"},
)


@pytest.fixture
def asked(play, script, offer):
    """Return a run that waits for the answer to a question with these fields."""

    def ask(**fields):
        def asker(context: RunContext) -> object:
            if "answer" not in context.answers:
                raise Ask("What size?", **fields)
            return context.answers["answer"]

        offer(asker)
        script.add(reply("", call("asker")), "Thanks.")
        return play()

    return ask


def told(run, *chosen, text=""):
    """Answer, go on, and return what the tool was given."""
    answer(given(run, text=text, chosen=chosen))
    return resume(run).calls.get().result["data"]


class TestText:
    def test_text_is_the_text(self, asked):
        assert told(asked(), text=" any 42 ") == "any 42"

    def test_strict_means_nothing_without_options(self, asked):
        assert told(asked(strict=True), text="any") == "any"


class TestConfirm:
    @pytest.mark.parametrize(
        ("text", "value"), [("yes", True), ("No", False), ("Publish it", True)]
    )
    def test_confirm_is_true_or_false(self, asked, text, value):
        run = asked(kind="confirm", confirm_label="Publish it", cancel_label="no")

        assert told(run, text=text) is value

    @pytest.mark.parametrize("text", ["maybe", "yes, but later", "1"])
    def test_confirm_takes_nothing_else(self, asked, text):
        run = asked(kind="confirm")

        assert refusal(answer, given(run, text=text)) == "wrong_answer"
        assert run.interrupts.get().status == "open"


class TestSelect:
    @pytest.mark.parametrize(
        ("text", "value"),
        [("s", "s"), ("Medium", "m"), ("LARGE", "3"), ("3", "3"), ("huge", "huge")],
    )
    def test_select_is_an_id_or_another_text(self, asked, text, value):
        assert told(asked(kind="select", options=SIZES), text=text) == value

    @pytest.mark.parametrize("text", ["huge", "s, m"])
    def test_strict_takes_no_other_text(self, asked, text):
        run = asked(options=SIZES, strict=True)

        assert refusal(answer, given(run, text=text)) == "wrong_answer"
        assert told(run, text="small") == "s"

    def test_select_takes_one_only(self, asked):
        run = asked(options=SIZES)

        assert refusal(answer, given(run, chosen=("s", "m"))) == "wrong_answer"


class TestMultiSelect:
    @pytest.mark.parametrize(
        ("chosen", "text", "value"),
        [
            (("s", "3"), "", ["s", "3"]),
            (("m",), "tiny", ["m", "tiny"]),
            ((), "Small, large", ["s", "3"]),
            ((), "tiny, large", ["tiny, large"]),
            (("s", "s"), "Small", ["s"]),
        ],
    )
    def test_multi_select_is_a_list(self, asked, chosen, text, value):
        run = asked(kind="multi_select", options=SIZES)

        assert told(run, *chosen, text=text) == value

    def test_none_is_no_answer(self, asked):
        run = asked(kind="multi_select", options=SIZES)

        assert refusal(answer, given(run)) == "empty"

    @pytest.mark.parametrize("chosen", [("xl",), ("s", "xl")])
    def test_strict_takes_no_other(self, asked, chosen):
        run = asked(kind="multi_select", options=SIZES, strict=True)

        assert refusal(answer, given(run, chosen=chosen)) == "wrong_answer"
        assert run.interrupts.get().status == "open"


class TestOptions:
    @pytest.mark.row("L11")
    def test_come_from_a_function_on_the_server(self, asked):
        groups = [Group.objects.create(name=name) for name in ("Editors", "Readers")]

        run = asked(options=lambda: Group.objects.order_by("name"), strict=True)

        options = run.interrupts.get().options
        assert [option["label"] for option in options] == ["Editors", "Readers"]
        assert told(run, text="Readers") == str(groups[1].pk)

    @pytest.mark.row("L11")
    def test_one_that_has_gone_is_asked_again(self, play, script, offer):
        def asker(context: RunContext) -> str:
            groups = Group.objects.order_by("name")
            asked = Ask("Which?", options=groups, strict=True, key="group")
            return asked.answer(context.answers)

        offer(asker)
        script.add(reply("", call("asker")), "Thanks.")
        gone, stays = (Group.objects.create(name=name) for name in ("Old", "Readers"))
        run = play()
        answer(given(run, text=str(gone.pk)))
        gone.delete()

        run = resume(run)

        again = run.interrupts.get(status="open")
        assert again.question == "What was chosen no longer exists. Which?"
        assert [option["label"] for option in again.options] == ["Readers"]
        assert told(run, text="Readers") == str(stays.pk)

    @pytest.mark.parametrize(
        ("fields", "given_before", "is_asked"),
        [
            ({"options": ["a", "b"], "strict": True}, "a", False),
            ({"options": ["a", "b"], "strict": True}, "c", True),
            ({"options": ["a", "b"]}, "c", False),
            ({"options": ["a"], "strict": True, "kind": "multi_select"}, ["a"], False),
            ({"options": ["a"], "strict": True, "kind": "multi_select"}, ["b"], True),
            ({"kind": "confirm", "strict": True}, False, False),
            ({}, "any", False),
        ],
    )
    def test_answer_holds_while_its_option_is_there(
        self, fields, given_before, is_asked
    ):
        asked = Ask("Which?", key="which", **fields)
        if is_asked:
            with pytest.raises(Ask):
                asked.answer({"which": given_before})
        else:
            assert asked.answer({"which": given_before}) == given_before

    def test_options_of_an_enumeration(self, asked):
        size = TextChoices("Size", [("S", ("s", "Small"))])

        assert asked(options=size).interrupts.get().options == [
            {"id": "s", "label": "Small", "description": ""}
        ]

    def test_function_that_fails_fails_the_call(self, asked):
        run = asked(options=lambda: 1 / 0)

        assert run.calls.get().result["error_type"] == "exception"
        assert run.state == "succeeded"

    @pytest.mark.parametrize(
        "fields",
        [
            {"kind": "colour"},
            {"options": ("a", "a")},
            {"kind": "confirm", "options": ("a",)},
            {"kind": "select", "strict": True},
            {"options": map(str, range(101))},
        ],
    )
    def test_options_that_make_no_question_fail_the_call(self, asked, fields):
        assert asked(**fields).calls.get().status == "failed"

    def test_rows_of_old_have_texts(self, asked):
        run = asked(options=("red", "blue"))
        Interrupt.objects.update(options=["red", "blue"], question_kind="text")

        assert told(run, text="Blue") == "blue"


class TestTyped:
    """An answer that is sent as a message."""

    CROSSED = ({"id": "2", "label": "1"}, {"id": "1", "label": "2"})
    ALIKE = ({"id": "a", "label": "Ann"}, {"id": "b", "label": "Ann"})

    @pytest.fixture
    def typed(self, submission):
        def send(run, text):
            accept(submission(text, conversation_id=run.conversation_id))
            return resume(run).calls.get()

        return send

    @pytest.mark.parametrize(
        ("choices", "text", "value"),
        [
            (CROSSED, "1", "2"),
            (SIZES, "LARGE", "3"),
            (SIZES, "huge", "huge"),
            (ALIKE, "Ann", "Ann"),
        ],
    )
    def test_typed_means_what_was_seen(self, asked, typed, choices, text, value):
        assert typed(asked(options=choices), text).result["data"] == value

    @pytest.mark.parametrize(("choices", "text"), [(SIZES, "3"), (SIZES, "m")])
    def test_id_that_nobody_saw_is_no_answer(self, asked, typed, choices, text):
        assert typed(asked(options=choices), text).status == "cancelled"

    def test_form_says_ids(self, asked):
        assert told(asked(options=self.CROSSED), text="1") == "1"

    def test_several(self, asked, typed):
        run = asked(kind="multi_select", options=self.CROSSED)

        assert typed(run, "1, 2").result["data"] == ["2", "1"]
