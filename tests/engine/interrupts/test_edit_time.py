"""The form of a proposal is code of the site: one that hangs costs few threads."""

import asyncio
import threading
from functools import partial

import pytest
from django import forms

from ai_assistant import RunContext
from ai_assistant.changes.values import Changes, ObjectChange
from ai_assistant.engine.calls import editing
from ai_assistant.engine.calls.editing import edit_form, edited, in_form_time
from ai_assistant.engine.interrupts.answers import answer as store_answer
from ai_assistant.engine.service import answer
from ai_assistant.exceptions import Refused
from ai_assistant.safety.bulkhead import HANGING
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given

pytestmark = pytest.mark.django_db(transaction=True)

GAVE_UP = "The form of “Send” timed out after 1 s."
HANGS = "The form of “Send” hangs, and is not called until it returns."


class Letter(forms.Form):
    text = forms.CharField(max_length=20)


class Stubborn:
    """An editor whose form is made when it is let go; `begun` counts."""

    def __init__(self):
        self.begun = 0
        self.go_on = threading.Event()

    def form(self, context, arguments, data=None):
        self.begun += 1
        self.go_on.wait(60)
        return Letter(data, initial=arguments)

    def arguments(self, form, arguments):
        return {**arguments, **form.cleaned_data}


def look(context: RunContext, text: str) -> Changes:
    one = ObjectChange(kind="action", model="testapp.effect", object_id="1")
    return Changes(title="Send", model="testapp.effect", objects=(one,), total=1)


@pytest.fixture
def editor():
    editor = Stubborn()
    yield editor
    editor.go_on.set()
    editing._bulkheads.clear()


@pytest.fixture
def run(editor, offer, options, play, script):
    def send(context: RunContext, text: str) -> str:
        """Send it."""
        return text

    options(POLICY={})
    offer(send, effect="write", preview=look, editor=editor, timeout_s=1)
    script.add(reply("", call("send", {"text": "new"})), "Done.")
    return play()


def asked(run, work=None) -> str:
    """Return what is said when the form is asked for; empty if it is made."""
    named = run.user_id, run.interrupts.get().pk
    work = work or partial(edit_form, *named)
    try:
        asyncio.run(in_form_time(*named, work))
    except Refused as refused:
        return str(refused)
    return ""


def test_one_that_hangs_is_given_up_and_then_not_asked(run, editor):
    assert [asked(run) for _ in range(HANGING + 2)] == [GAVE_UP] * 2 + [HANGS] * 2
    assert editor.begun == HANGING


def test_is_asked_again_when_it_has_returned(run, editor):
    for _ in range(HANGING):
        asked(run)
    editor.go_on.set()

    while said := asked(run):
        assert said == HANGS

    assert editor.begun == HANGING + 1


def test_what_is_posted_has_the_same_time(run, editor):
    posted = given(run, "edit")

    with pytest.raises(Refused, match="timed out after"):
        asyncio.run(answer(posted, {"text": "mine"}))

    store_answer(given(run, "approve"))
    assert resume(run).state == "succeeded"


def test_in_time_it_is_a_form(run, editor):
    editor.go_on.set()

    assert asked(run) == ""


def test_error_of_the_site_is_a_sentence(run, editor):
    def broken():
        raise ZeroDivisionError

    assert asked(run, broken).startswith("Tool “Send” failed")


def test_another_ones_is_not_found(run, staff):
    named = staff.pk, run.interrupts.get().pk
    with pytest.raises(Refused, match="does not exist"):
        asyncio.run(in_form_time(*named, partial(edit_form, *named)))


def test_values_that_are_wrong_come_with_their_form(run, editor):
    editor.go_on.set()
    named = run.user_id, run.interrupts.get().pk

    with pytest.raises(editing.WrongValues) as caught:
        edited(*named, {"text": "much too long for such a field"})

    assert caught.value.form["text"].value().startswith("much")
    assert list(caught.value.form.errors) == ["text"]
