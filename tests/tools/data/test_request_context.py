"""REQUEST_CONTEXT in a run: around the try-out, around the write, and when it fails."""

import sqlite3
from contextlib import ExitStack, contextmanager
from typing import NamedTuple
from uuid import UUID

import pytest
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.utils.translation import get_language, override

from ai_assistant.changes import stored
from ai_assistant.providers.base import provider_for
from ai_assistant.testing import answer_interrupt, run_assistant
from tests.model_server.scripts import call, text
from tests.tools.data.pages import served
from tests.warehouse.models import Mark, Product

pytestmark = pytest.mark.servers

HERE = "tests.tools.data.test_request_context"
LIST = "/admin/warehouse/product/"
FAILED = "What the site does around this request failed. Nothing was saved."


class Entry(NamedTuple):
    """What the context manager was given, and where."""

    path: str
    query: str
    languages: tuple[str, str]
    user: str
    run: UUID


entries, left, acts = [], [], []


@contextmanager
def around(request, run):
    """Note each request that may write, and act as the test says."""
    if request.method != "POST":
        yield
        return
    languages = (get_language(), request.LANGUAGE_CODE)
    user, query = request.user.get_username(), request.GET.urlencode()
    entries.append(Entry(request.path, query, languages, user, run.pk))
    for act in acts:
        act()
    try:
        yield
    except BaseException as error:
        left.append(type(error).__name__)
        raise
    left.append("saved")


@contextmanager
def silencing(request, run):
    """Let nobody know what has failed inside."""
    try:
        yield
    except LookupError:
        left.append("silenced")


def fail():
    raise LookupError("no host")


def fail_in_the_write():
    if len(entries) == 2:  # the first is the try-out
        fail()


def find_it_busy():
    """Raise once, in the write, what SQLite says of a database that others write to."""
    if len(entries) == 2:
        busy = sqlite3.OperationalError("database is locked")
        busy.sqlite_errorname = "SQLITE_BUSY"
        raise OperationalError("database is locked") from busy


def deny():
    raise PermissionDenied


def mark():
    Mark.objects.create(name="by the context")


class PlainAdmin(admin.ModelAdmin):
    """Saves as Django does: of the site's own code nothing runs but the context."""

    fields = ("name", "sku", "note")


class FailingAdmin(PlainAdmin):
    """Fails once the row is written, but not as that is tried out."""

    assistant_tries_out = False

    def save_model(self, request, obj, form, change):
        super().save_model(request, obj, form, change)
        fail()


@pytest.fixture
def ask(settings, boss, stock, model_server):
    """Return what has the scripted model call a tool, on the page of the chair."""
    for notes in (entries, left, acts):
        notes.clear()
    profile = {"MODEL": "openai/scripted", "API_BASE": model_server.base}
    page = f"{LIST}{stock.chair.pk}/change/?tab=notes"

    def asked(name="change_object", *, admin_class=PlainAdmin, manager="around", **own):
        given = own or {"id": str(stock.chair.pk), "values": {"note": "x"}}
        wanted = call(name, {"model": "warehouse.product", **given})
        model_server.script("in-context", [[wanted], [text("That is all.")]])
        data = {"REQUEST_CONTEXT": f"{HERE}.{manager}"}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": data}
        served_by.enter_context(served(settings, Product, admin_class))
        provider = provider_for({**profile, "API_KEY": "none"})
        said = "Do it. [[script:in-context]]"
        return run_assistant(boss, page, said, provider=provider)

    with ExitStack() as served_by:
        yield asked


@pytest.fixture
def note(stock):
    """Return what tells the note of the chair, as it is in the database."""
    return lambda: Product.objects.values_list("note", flat=True).get(pk=stock.chair.pk)


class TestEntered:
    def test_once_around_the_try_out_and_once_around_the_write(self, ask, stock, note):
        with override("de"):
            asked = ask()
        tried_out = [*entries]
        with override("fr"):  # of whoever approves it
            played = answer_interrupt(asked, "approve")

        path = f"{LIST}{stock.chair.pk}/change/"
        expected = Entry(path, "tab=notes", ("de", "de"), "ada", asked.run.pk)
        assert tried_out == [expected]
        assert entries == [expected] * 2
        assert left == ["saved"] * 2
        assert (played.calls[0].status, note()) == ("complete", "x")

    def test_what_it_writes_is_on_the_one_card(self, ask):
        acts.append(mark)
        asked = ask()
        shown = stored.from_json(asked.interrupts[0].proposal)
        played = answer_interrupt(asked, "approve")

        assert [one.text for one in shown.objects] == ["Chair", "by the context"]
        assert played.interrupts == ()
        assert Mark.objects.filter(name="by the context").count() == 1

    def test_deletion_on_the_page_of_the_object(self, ask, stock):
        asked = ask("delete_objects", ids=[str(stock.chair.pk)])
        played = answer_interrupt(asked, "approve")

        assert played.calls[0].status == "complete"
        assert [one.path for one in entries] == [f"{LIST}{stock.chair.pk}/delete/"] * 2

    def test_deletion_of_several_in_the_list(self, ask, stock):
        asked = ask("delete_objects", ids=[str(stock.chair.pk), str(stock.locked.pk)])
        played = answer_interrupt(asked, "approve")

        assert played.calls[0].status == "complete"
        assert [one.path for one in entries] == [LIST] * 2


class TestFailure:
    def test_of_the_write_is_seen_by_it(self, ask, note):
        played = answer_interrupt(ask(admin_class=FailingAdmin), "approve")

        assert left == ["LookupError"]
        assert (played.calls[0].status, note()) == ("failed", "")

    def test_of_the_write_cannot_be_silenced(self, ask, note):
        asked = ask(admin_class=FailingAdmin, manager="silencing")
        played = answer_interrupt(asked, "approve")

        assert left == ["silenced"]
        assert "(LookupError)" in played.calls[0].error
        assert (played.calls[0].status, note()) == ("failed", "")

    def test_of_its_own_refuses_before_anybody_is_asked(self, ask, note, caplog):
        acts[:] = [mark, fail]
        played = ask()

        assert played.interrupts == ()
        assert (played.calls[0].status, played.calls[0].error) == ("failed", FAILED)
        assert len(entries) == 1
        assert note() == ""
        assert not Mark.objects.filter(name="by the context").exists()
        assert f"REQUEST_CONTEXT '{HERE}.around' fails" in caplog.text

    def test_of_its_own_in_the_write_saves_nothing(self, ask, note):
        acts[:] = [mark, fail_in_the_write]
        played = answer_interrupt(ask(), "approve")

        assert (played.calls[0].status, played.calls[0].error) == ("failed", FAILED)
        assert len(entries) == 2
        assert note() == ""
        assert not Mark.objects.filter(name="by the context").exists()

    def test_busy_database_is_tried_again(self, ask, note):
        acts.append(find_it_busy)
        played = answer_interrupt(ask(), "approve")

        assert len(entries) == 3
        assert (played.calls[0].status, note()) == ("complete", "x")

    def test_refusal_of_its_own_is_that_of_the_page(self, ask, note):
        acts.append(deny)
        played = ask()

        assert played.interrupts == ()
        assert played.calls[0].error == "The admin page does not allow it."
        assert note() == ""

    def test_path_of_nothing_is_said_and_not_tried(self, ask, note):
        played = ask(manager="nothing")

        assert played.interrupts == ()
        assert (played.calls[0].status, played.calls[0].error) == ("failed", FAILED)
        assert note() == ""
