"""The model's own question to the person."""

from typing import ClassVar

import pytest

import ai_assistant
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("T17")]

COLOURS = [{"id": "r", "label": "Red", "description": "warm"}, {"label": "Blue"}]


@pytest.fixture
def asked(play, script):
    def ask(**arguments):
        script.add(
            reply("", call("ask_user", {"question": "Which?", **arguments})), "Thanks."
        )
        return play()

    return ask


def told(run, **said):
    answer(given(run, **said))
    return resume(run).calls.get().result["data"]


class TestAskUser:
    def test_ask_user_waits_with_its_options(self, asked):
        run = asked(options=COLOURS)

        question = run.interrupts.get()
        assert (run.state, question.question) == ("waiting_answer", "Which?")
        assert [one["id"] for one in question.options] == ["r", "Blue"]
        assert question.options[0]["description"] == "warm"

    def test_result_echoes_the_question(self, asked):
        assert told(asked(options=COLOURS), text="r") == {
            "question": "Which?",
            "outcome": "answered",
            "answer": "r",
            "labels": ["Red"],
        }

    @pytest.mark.parametrize(
        ("arguments", "said", "value", "labels"),
        [
            ({}, {"text": "any"}, "any", ["any"]),
            ({"kind": "confirm"}, {"text": "no"}, False, ["No"]),
            ({"options": ["a", "b"]}, {"text": "c"}, "c", ["c"]),
            (
                {"kind": "multi_select", "options": COLOURS},
                {"chosen": ("r", "Blue")},
                ["r", "Blue"],
                ["Red", "Blue"],
            ),
        ],
    )
    def test_every_kind(self, asked, arguments, said, value, labels):
        result = told(asked(**arguments), **said)

        assert (result["answer"], result["labels"]) == (value, labels)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"question": ""},
            {"options": ["a", "a"]},
            {"kind": "select", "strict": True},
            {"kind": "radio"},
            {"options": ["x"] * 21},
        ],
    )
    def test_wrong_arguments_are_told(self, asked, wrong):
        run = asked(**wrong)

        assert run.calls.get().status == "failed"
        assert run.interrupts.count() == 0


class TestOffer:
    def offered(self, script):
        return [tool["function"]["name"] for tool in script.requests[0].tools]

    def test_offer_is_there_on_every_page(self, play, script):
        script.add("Hello.")
        play()

        assert "ask_user" in self.offered(script)

    def test_module_may_leave_it_out(self, play, script):
        with registry.restored():

            @ai_assistant.register
            class QuietModule(ai_assistant.ContextModule):
                matches: ClassVar = ["admin:index"]
                features: ClassVar = {"ask_user": False}

            script.add("Hello.")
            play(page_path="/admin/")

        assert "ask_user" not in self.offered(script)
