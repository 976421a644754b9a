"""A call with a preview shows what it would change, and does just that."""

from datetime import timedelta

import pytest
from django import forms
from django.utils import timezone

from ai_assistant import ModelRetry, RunContext, ToolResult
from ai_assistant.changes.capture import images
from ai_assistant.changes.stored import from_json
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.engine.calls.editing import edit_form, edited
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.approval import revoke_grant
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.policy import Grant
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.people import at_once, given, refusal
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "testapp.effect"


def set_value(context: RunContext, ids: list[int], value: str) -> int:
    """Give effects a value."""
    for effect in Effect.objects.filter(pk__in=ids):
        effect.value = value
        effect.save()
    return len(ids)


def look(context: RunContext, ids: list[int], value: str) -> Changes | ToolResult:
    if value == "bad":
        raise ModelRetry("This value is bad.")
    rows = Effect.objects.filter(pk__in=ids)
    if not rows.exclude(value=value):
        return ToolResult(ok=True, message="Nothing to change.")
    return Changes(
        title="Change the value",
        model=MODEL,
        objects=tuple(_changed(row, value) for row in rows),
        total=len(rows),
        versions=images.versions(rows),
        rows_argument="ids",
    )


def _changed(row: Effect, value: str) -> ObjectChange:
    field = FieldChange(
        name="value",
        label="Value",
        before=row.value,
        after=value,
        attname="value",
        raw=value,
    )
    return ObjectChange(
        kind="change",
        model=MODEL,
        object_id=str(row.pk),
        text=str(row),
        fields=(field,),
    )


class ValueEditor:
    def form(self, context, arguments, data=None):
        class ValueForm(forms.Form):
            value = forms.CharField(max_length=10)

        return ValueForm(data, initial={"value": arguments["value"]})

    def arguments(self, form, arguments):
        return {**arguments, "value": form.cleaned_data["value"]}


@pytest.fixture
def rows(user):
    return [
        Effect.objects.create(key=key, value="old", run=user_run()) for key in "abc"
    ]


def user_run():
    return "00000000-0000-0000-0000-000000000001"


@pytest.fixture
def setter(offer, options):
    options(POLICY={})
    return offer(
        set_value,
        effect="write",
        preview=look,
        rows_argument="ids",
        editor=ValueEditor(),
    )


@pytest.fixture
def proposed(setter, rows, play, script):
    """A run that shows what `set_value` would do to three rows."""
    ids = [row.pk for row in rows]
    script.add(reply("", call("set_value", {"ids": ids, "value": "new"})), "Done.")
    return play()


def values():
    return list(Effect.objects.order_by("key").values_list("value", flat=True))


def shown(run):
    return from_json(run.interrupts.get(status="open").proposal)


class TestShown:
    def test_shown_waits_with_the_difference(self, proposed):
        assert (proposed.state, statuses(proposed)) == ("waiting_approval", ["waiting"])
        changes = shown(proposed)
        assert (changes.total, changes.model) == (3, MODEL)
        assert changes.objects[0].fields[0].before == "old"
        assert values() == ["old"] * 3

    def test_shown_says_why_it_asks(self, proposed):
        assert "changes" in proposed.calls.get().asks_because

    def test_what_cannot_be_done_is_not_asked(self, setter, rows, play, script):
        script.add(
            reply("", call("set_value", {"ids": [rows[0].pk], "value": "bad"})), "So."
        )
        run = play()
        assert (run.state, statuses(run)) == ("succeeded", ["failed"])
        assert "This value is bad." in run.calls.get().result_text

    def test_nothing_to_change_is_not_asked(self, setter, rows, play, script):
        script.add(
            reply("", call("set_value", {"ids": [rows[0].pk], "value": "old"})), "So."
        )
        assert statuses(play()) == ["complete"]

    def test_preview_that_fails_is_a_failed_call(self, offer, options, play, script):
        options(POLICY={})
        offer(set_value, effect="write", preview=lambda context, ids, value: 1 / 0)
        script.add(reply("", call("set_value", {"ids": [1], "value": "x"})), "So.")
        run = play()
        assert (run.state, statuses(run)) == ("succeeded", ["failed"])


class TestApproved:
    def test_approved_is_carried_out_and_kept(self, proposed, user):
        answer(given(proposed, "approve"))
        run = resume(proposed)

        assert (run.state, statuses(run)) == ("succeeded", ["complete"])
        assert values() == ["new"] * 3
        kept = ChangeSet.objects.get()
        assert (kept.run_id, kept.call, kept.user) == (run.pk, run.calls.get(), user)
        assert not kept.is_partial
        assert [row.fields for row in kept.rows.all()] == [["value"]] * 3
        assert kept.rows.first().before["value"] == "old"
        assert kept.rows.first().after["value"] == "new"

    def test_chosen_rows_only(self, proposed, rows):
        chosen = (str(rows[0].pk), str(rows[2].pk))
        answer(given(proposed, "approve", rows=chosen))
        run = resume(proposed)

        assert (run.state, values()) == ("succeeded", ["new", "old", "new"])
        assert run.calls.get().arguments["ids"] == [rows[0].pk, rows[2].pk]
        stored = from_json(run.interrupts.get().proposal)
        assert (stored.title, stored.total) == ("Change the value (2)", 2)

    def test_no_rows_is_refused(self, proposed):
        assert refusal(answer, given(proposed, "approve", rows=())) == "no_rows"

    def test_rows_that_were_not_shown_are_not_added(self, proposed, rows):
        other = Effect.objects.create(key="z", value="old", run=user_run())
        answer(given(proposed, "approve", rows=(str(rows[0].pk), str(other.pk))))
        resume(proposed)
        assert values() == ["new", "old", "old", "old"]

    def test_other_values(self, proposed, user):
        interrupt = proposed.interrupts.get()
        form = edit_form(user.pk, interrupt.pk)
        assert form["value"].value() == "new"

        wrote = edited(user.pk, interrupt.pk, {"value": "mine"})
        answer(given(proposed, "edit", edited=wrote))
        run = resume(proposed)

        assert (run.state, values()) == ("succeeded", ["mine"] * 3)
        assert from_json(run.interrupts.get().proposal).objects[0].fields[0].after == (
            "mine"
        )

    def test_other_values_are_checked(self, proposed, user):
        interrupt = proposed.interrupts.get()
        work = {"value": "much too long for it"}
        assert refusal(edited, user.pk, interrupt.pk, work) == "invalid"
        assert refusal(edited, user.pk, interrupt.pk, {"value": "bad"}) == "retry"
        assert values() == ["old"] * 3

    def test_others_cannot_edit(self, proposed, staff):
        interrupt = proposed.interrupts.get()
        assert refusal(edit_form, staff.pk, interrupt.pk) == "not_found"

    def test_edit_without_values_is_refused(self, proposed):
        assert refusal(answer, given(proposed, "edit")) == "bad_decision"

    def test_one_of_two_decides(self, proposed):
        approval, denial = given(proposed, "approve"), given(proposed, "deny")
        results = at_once(lambda: answer(approval), lambda: answer(denial))
        assert results.count("already_answered") == 1


class TestMoved:
    def test_changed_row_asks_again(self, proposed, rows):
        answer(given(proposed, "approve"))
        Effect.objects.filter(pk=rows[0].pk).update(value="by somebody")
        run = resume(proposed)

        assert (run.state, statuses(run)) == ("waiting_approval", ["waiting"])
        assert values() == ["by somebody", "old", "old"]
        assert shown(run).objects[0].fields[0].before == "by somebody"
        assert "since it was shown" in run.calls.get().asks_because
        assert not ChangeSet.objects.exists()

        answer(given(run, "approve"))
        assert resume(run).state == "succeeded"
        assert values() == ["new"] * 3

    def test_row_that_is_gone_asks_again(self, proposed, rows):
        answer(given(proposed, "approve"))
        rows[0].delete()
        run = resume(proposed)
        assert (run.state, shown(run).total) == ("waiting_approval", 2)

    def test_more_than_shown_is_taken_back(self, setter, rows, play, script, offer):
        def greedy(context: RunContext, ids: list[int], value: str) -> int:
            """Give effects a value, and one more."""
            Effect.objects.create(key="extra", value=value, run=user_run())
            return set_value(context, ids, value)

        offer(greedy, effect="write", preview=look)
        script.add(
            reply("", call("greedy", {"ids": [rows[0].pk], "value": "new"})), "Done."
        )
        run = play()
        answer(given(run, "approve"))
        run = resume(run)

        assert run.state == "waiting_approval"
        assert values() == ["old"] * 3
        again = shown(run)
        assert again.exact
        assert {one.kind for one in again.objects} == {"create", "change"}

        answer(given(run, "approve"))
        assert resume(run).state == "succeeded"
        assert sorted(values()) == ["new", "new", "old", "old"]

    def test_other_arguments_are_stale(self, proposed):
        call_row = proposed.calls.get()
        call_row.arguments["value"] = "planted"
        call_row.save()
        assert refusal(answer, given(proposed, "approve")) == "stale"

    def test_other_tool_asks_again(self, proposed, offer):
        answer(given(proposed, "approve"))

        def set_value(
            context: RunContext, ids: list[int], value: str, more: str = ""
        ) -> int:
            """Give effects a value, in another way."""
            return 0

        def look_anew(
            context: RunContext, ids: list[int], value: str, more: str
        ) -> Changes | ToolResult:
            return look(context, ids, value)

        offer(set_value, effect="write", preview=look_anew)
        run = resume(proposed)
        assert (run.state, values()) == ("waiting_approval", ["old"] * 3)

    def test_expired_is_not_carried_out(self, proposed):
        late = timezone.now() - timedelta(seconds=1)
        proposed.interrupts.update(expires_at=late)
        assert refusal(answer, given(proposed, "approve")) == "expired"
        assert values() == ["old"] * 3


class TestTriedOut:
    def test_tried_out_shows_what_really_happens(
        self, offer, options, rows, play, script
    ):
        options(POLICY={})
        offer(set_value, effect="write", preview="transaction")
        script.add(
            reply("", call("set_value", {"ids": [rows[1].pk], "value": "new"})), "Done."
        )
        run = play()

        assert values() == ["old"] * 3
        changes = shown(run)
        assert changes.exact
        assert [
            (one.kind, one.object_id, one.fields[0].after) for one in changes.objects
        ] == [("change", str(rows[1].pk), "new")]

        answer(given(run, "approve"))
        assert resume(run).state == "succeeded"
        assert values() == ["old", "new", "old"]

    def test_failure_is_not_asked(self, offer, options, play, script):
        def fails(context: RunContext) -> None:
            """Fail."""
            Effect.objects.create(key="x", run=user_run())
            raise ModelRetry("Not so.")

        options(POLICY={})
        offer(fails, effect="write", preview="transaction")
        script.add(reply("", call("fails")), "So.")
        assert statuses(play()) == ["failed"]
        assert not Effect.objects.exists()


class TestForThisRun:
    def test_for_this_run_does_not_ask_again_on_the_same_model(
        self, setter, rows, play, script
    ):
        first, second, _third = [row.pk for row in rows]
        script.add(
            reply("", call("set_value", {"ids": [first], "value": "one"})),
            reply("", call("set_value", {"ids": [second], "value": "two"})),
            "Done.",
        )
        run = play()
        answer(given(run, "approve_for_run"))
        run = resume(run)

        assert (run.state, values()) == ("succeeded", ["one", "two", "old"])
        grant = Grant.objects.get()
        assert (grant.tool, grant.model, grant.run_id) == ("set_value", MODEL, run.pk)
        assert run.interrupts.filter(answer={"granted": True}).count() == 1
        assert ChangeSet.objects.count() == 2

    def test_for_this_run_asks_again_once_it_is_taken_back(
        self, setter, rows, play, script
    ):
        first, second, _third = [row.pk for row in rows]
        script.add(
            reply("", call("set_value", {"ids": [first], "value": "one"})),
            reply("", call("set_value", {"ids": [second], "value": "two"})),
            "Done.",
        )
        run = play()
        answer(given(run, "approve_for_run"))
        grant = Grant.objects.get()
        revoke_grant(None, grant.pk)
        assert Grant.objects.exists()
        revoke_grant(run.user_id, grant.pk)

        assert resume(run).state == "waiting_approval"

    def test_for_this_run_ends_with_the_run(self, setter, rows, play, script):
        first, second, _third = [row.pk for row in rows]
        script.add(
            reply("", call("set_value", {"ids": [first], "value": "one"})), "Done."
        )
        run = play()
        answer(given(run, "approve_for_run"))
        resume(run)
        script.add(
            reply("", call("set_value", {"ids": [second], "value": "two"})), "Done."
        )
        assert play().state == "waiting_approval"

    def test_for_this_run_never_for_what_destroys(
        self, offer, options, rows, play, script
    ):
        options(POLICY={})
        offer(set_value, effect="destructive", preview=look)
        script.add(
            reply("", call("set_value", {"ids": [rows[0].pk], "value": "new"})), "Done."
        )
        run = play()
        assert refusal(answer, given(run, "approve_for_run")) == "not_for_run"
        assert run.interrupts.get().status == "open"

    def test_for_this_run_never_for_what_goes_outside(self, options, play, script):
        options(POLICY={})
        script.add(reply("", call("write_external", {"key": "a"})), "Done.")
        run = play()
        assert refusal(answer, given(run, "approve_for_run")) == "not_for_run"

    def test_tool_without_preview(self, options, play, script):
        options(POLICY={})
        script.add(
            reply("", call("write_effect", {"key": "a"})),
            reply("", call("write_effect", {"key": "b"})),
            "Done.",
        )
        run = play()
        answer(given(run, "approve_for_run"))
        assert (resume(run).state, Effect.objects.count()) == ("succeeded", 2)


class TestAllowed:
    def test_allowed_is_kept_too(self, offer, options, rows, play, script):
        options(POLICY={"set_value": "allow"})
        offer(set_value, effect="write", preview=look)
        script.add(
            reply("", call("set_value", {"ids": [rows[0].pk], "value": "new"})), "Done."
        )
        run = play()
        assert (run.state, values()) == ("succeeded", ["new", "old", "old"])
        assert RowChange.objects.get().object_id == str(rows[0].pk)

    def test_failed_call_keeps_nothing(self, offer, options, rows, play, script):
        def fails(context: RunContext) -> None:
            """Fail after a write."""
            Effect.objects.create(key="x", run=user_run())
            raise ModelRetry("Not so.")

        options(POLICY={"fails": "allow"})
        offer(fails, effect="write")
        script.add(reply("", call("fails")), "So.")
        play()
        assert not ChangeSet.objects.exists()


class TestBackground:
    def test_background_is_shown_before(
        self, offer, options, rows, play, script, given_out
    ):
        def later(context: RunContext, ids: list[int], value: str) -> int:
            """Give effects a value, later."""
            with context.transaction():
                return set_value(context, ids, value)

        options(POLICY={})
        offer(later, effect="write", background=True, preview=look)
        script.add(
            reply("", call("later", {"ids": [rows[0].pk], "value": "new"})), "Done."
        )
        run = play()
        assert (run.state, list(given_out)) == ("waiting_approval", [])
        assert ToolCall.objects.get().status == "waiting"

        answer(given(run, "approve"))
        run.refresh_from_db()
        assert run.state == "waiting_task"
