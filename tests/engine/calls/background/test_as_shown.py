"""A background call does in pieces what was shown: nothing more, other or different."""

from contextlib import suppress

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.capture import images
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.call import BackgroundCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import dead_owner, resume, statuses
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

LABEL = "testapp.effect"
RUN = "00000000-0000-0000-0000-000000000001"


def field(name, value):
    return FieldChange(name=name, label=name, attname=name, raw=value)


def of(row, kind="change"):
    fields = (field("value", "new"),) if kind == "change" else ()
    return ObjectChange(
        kind=kind, model=LABEL, object_id=str(row.pk), text=row.key, fields=fields
    )


def look(context: RunContext) -> Changes:
    """Show that a and b get a new value, that c goes and that one row is made."""
    a, b, c = Effect.objects.filter(key__in="abc").order_by("key")
    made = ObjectChange(kind="create", model=LABEL, fields=(field("key", "made"),))
    return Changes(
        title="Work",
        model=LABEL,
        objects=(of(a), of(b), of(c, "delete"), made),
        total=4,
        versions=images.versions([a, b, c]),
    )


def look_without_removal(context: RunContext) -> Changes:
    """Show only that a gets a new value; that may be granted for a whole run."""
    a = Effect.objects.get(key="a")
    versions = images.versions([a])
    return Changes(
        title="Work", model=LABEL, objects=(of(a),), total=1, versions=versions
    )


@pytest.fixture
def rows():
    return [Effect.objects.create(key=key, value="old", run=RUN) for key in "abcd"]


@pytest.fixture
def approved(offer, options, play, script, rows, given_out):
    """Approve a tool that does `parts`, each in a piece; return the run."""

    def start(*parts, decision="approve", handler=None, preview=look):
        def pieces(context: RunContext) -> str:
            for number, part in enumerate(parts):
                if number >= (context.mark or 0):
                    with context.transaction(mark=number + 1):
                        part()
            return "all of it"

        options(POLICY={})
        offer(
            handler or pieces,
            name="pieces",
            effect="write",
            background=True,
            resumable=True,
            preview=preview,
        )
        script.add(reply("", call("pieces")), "Done.")
        run = play()
        answer(given(run, decision))
        given_out.clear()
        return run

    return start


def worked(run):
    perform(run.calls.get().pk)
    return run.calls.get()


def change(key, **fields):
    return lambda: Effect.objects.filter(key=key).update(**fields or {"value": "new"})


def gone(key):
    return lambda: Effect.objects.filter(key=key).delete()


def made():
    Effect.objects.create(key="made", run=RUN)


def found():
    rows = Effect.objects.order_by("key", "pk").values_list("key", "value")
    return " ".join("=".join(row) for row in rows)


UNTOUCHED = "a=old b=old c=old d=old"


class TestAsShown:
    def test_as_shown_in_any_number_of_pieces(self, approved):
        one = worked(approved(change("a"), gone("c"), change("b"), made))

        assert (one.status, one.error, one.result["message"]) == ("complete", "", "")
        assert found() == "a=new b=new d=old made="

    def test_row_that_was_made_may_be_filled_in_by_another_piece(self, approved):
        def fills():
            Effect.objects.filter(key="made").update(key="made", value="")

        one = worked(approved(change("a"), change("b"), gone("c"), made, fills))

        assert (one.status, one.error) == ("complete", "")

    def test_what_was_left_is_said(self, approved):
        one = worked(approved(change("a")))

        said = "Shown, but not or only partly done: effect “b”, effect “c”, effect."
        assert (one.status, one.error) == ("complete", said)
        assert one.result["message"] == said
        assert said in one.result_text
        assert found() == "a=new b=old c=old d=old"


OTHERS = {
    "another row": change("d"),
    "another value": change("a", value="other"),
    "another field": change("a", value="new", run=RUN.replace("1", "2")),
    "a deletion": gone("a"),
    "a second row": lambda: [made(), made()],
    "another new row": lambda: Effect.objects.create(key="else", run=RUN),
}


def because(name):
    if name in ("another value", "another new row"):
        return "It would differ from what was shown: "
    return "It would change more than was shown: "


@pytest.mark.parametrize("name", OTHERS)
class TestOtherThanShown:
    def test_first_piece_is_asked_again(self, approved, name):
        run = approved(OTHERS[name])
        one = worked(run)

        assert found() == UNTOUCHED
        assert one.asks_because.startswith(because(name))
        run = resume(run)
        assert (run.state, statuses(run)) == ("waiting_approval", ["waiting"])
        assert not ChangeSet.objects.exists()

    def test_later_piece_ends_the_call(self, approved, name):
        run = approved(change("b"), OTHERS[name], gone("c"))
        one = worked(run)

        assert found() == "a=old b=new c=old d=old"
        assert (one.status, one.result["error_type"]) == ("failed", "changed")
        assert one.error.startswith(because(name))
        assert one.error.endswith(
            " That part was undone. What was done before it stays: 1 object."
        )
        assert resume(run).state == "succeeded"


class TestOverAllPieces:
    def test_nothing_happens_twice(self, approved):
        one = worked(approved(made, made))

        assert (one.status, found()) == ("failed", f"{UNTOUCHED} made=")

    def test_nothing_is_changed_back(self, approved):
        one = worked(approved(change("a"), change("a", value="old")))

        assert (one.status, found()) == ("failed", "a=new b=old c=old d=old")

    def test_what_a_killed_worker_has_done_counts(self, approved):
        class Killed(BaseException):
            pass

        begun = []

        def pieces(context: RunContext) -> None:
            begun.append(context.mark)
            with context.transaction(mark=1):
                made()
            if len(begun) == 1:
                raise Killed

        run = approved(handler=pieces)
        with pytest.raises(Killed):
            worked(run)
        BackgroundCall.objects.update(owner=dead_owner())
        sweep_once()
        one = worked(run)

        assert begun == [None, 1]
        assert (one.status, found()) == ("failed", f"{UNTOUCHED} made=")

    def test_tool_that_goes_on_all_the_same(self, approved):
        def pieces(context: RunContext) -> str:
            for part in (change("a"), change("d"), change("b")):
                try:
                    with context.transaction():
                        part()
                except Exception:  # noqa: BLE001, S112 - a tool may be like that
                    continue
            return "all is well"

        one = worked(approved(handler=pieces))

        assert (one.status, found()) == ("failed", "a=new b=old c=old d=old")

    def test_piece_that_the_tool_took_back_itself_does_not_count(self, approved):
        def pieces(context: RunContext) -> None:
            for fails in (True, False):
                try:
                    with context.transaction():
                        made()
                        if fails:
                            raise KeyError  # noqa: TRY301
                except KeyError:
                    continue

        one = worked(approved(handler=pieces))

        assert (one.status, found()) == ("complete", f"{UNTOUCHED} made=")

    def test_piece_within_one_that_was_taken_back_does_not_count(self, approved):
        def pieces(context: RunContext) -> None:
            with suppress(KeyError), context.transaction():
                with context.transaction():
                    made()
                raise KeyError
            with context.transaction():
                made()

        one = worked(approved(handler=pieces))

        assert (one.status, found()) == ("complete", f"{UNTOUCHED} made=")


class TestOthersMeanwhile:
    def test_change_a_row_before_its_piece(self, approved):
        def pieces(context: RunContext) -> None:
            with context.transaction():
                change("a")()
            change("b", run=RUN.replace("1", "2"))()  # a person does
            with context.transaction():
                change("b")()

        one = worked(approved(handler=pieces))

        assert (one.status, found()) == ("failed", "a=new b=old c=old d=old")
        assert one.error.startswith("It has been changed by somebody else since")

    def test_change_a_row_between_its_pieces(self, approved):
        def pieces(context: RunContext) -> None:
            for _ in range(2):
                with context.transaction():
                    change("a")()
                change("a", value="by a person")()

        one = worked(approved(handler=pieces))

        assert (one.status, found()) == ("failed", "a=by a person b=old c=old d=old")


class TestGranted:
    def test_piece_that_differs_asks_a_person(self, approved):
        run = approved(
            change("d"), decision="approve_for_run", preview=look_without_removal
        )
        assert Grant.objects.exists()
        worked(run)

        assert resume(run).state == "waiting_approval"

    def test_granted_without_a_preview_nothing_is_held(
        self, play, script, options, offer
    ):
        def free(context: RunContext) -> None:
            with context.transaction():
                made()

        options(POLICY={})
        offer(free, effect="write", background=True)
        script.add(reply("", call("free")))
        run = play()
        answer(given(run, "approve"))
        one = worked(run)

        assert (one.status, one.error, Run.objects.count()) == ("complete", "", 1)
