"""The page of a run: what it did, and when."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from ai_assistant.engine.storage.eventlog import append_events
from ai_assistant.events import Custom, StepStarted
from ai_assistant.models import (
    ChangeSet,
    Conversation,
    Interrupt,
    Message,
    RowChange,
    Run,
    Step,
    ToolCall,
)
from ai_assistant.models.event import RunEvent
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.trace.rows import trace_rows
from ai_assistant.render.html.trace.timeline import timeline_entry

pytestmark = pytest.mark.django_db

BEGAN = timezone.now().replace(microsecond=0) - timedelta(days=1)


def at(seconds):
    return BEGAN + timedelta(seconds=seconds)


@pytest.fixture
def run(people):
    """
    A run of ada's, by seconds since it was begun.

    It is queued until 1, asks the model until 3, works until 4, waits for its person
    until 4,000, works again until 4,001 and asks the model until 4,002.
    """
    conversation = Conversation.objects.create(owner=people["ada"])
    found = Run.objects.create(
        conversation=conversation,
        user=people["ada"],
        idempotency_key="k",
        state="succeeded",
        finished_at=at(4002),
    )
    Run.objects.filter(pk=found.pk).update(created_at=at(0))
    for index, (start, end) in enumerate([(1, 3), (4001, 4002)]):
        add_step(found, index, start, end)
    add_call(found, "find_orders", 3, 4, position=0)
    call = add_call(found, "delete_order", 4000, 4001, position=1)
    interrupt = Interrupt.objects.create(
        run=found,
        call=call,
        kind="approval",
        status="approved",
        decided_by=people["ada"],
        decided_at=at(4000),
    )
    Interrupt.objects.filter(pk=interrupt.pk).update(created_at=at(4))
    found.refresh_from_db()
    return found


def add_step(run, index, start, end):
    append_events(run.pk, [StepStarted(index=index)], first_seq=index + 1, epoch=1)
    RunEvent.objects.filter(run=run, seq=index + 1).update(created_at=at(start))
    message = Message.objects.create(
        conversation=run.conversation, run=run, position=index, role="assistant"
    )
    step = Step.objects.create(run=run, index=index, message=message, model="gpt-5")
    Step.objects.filter(pk=step.pk).update(created_at=at(end))
    UsageLedger.objects.create(
        run=run, step_index=index, input_tokens=4711, state="settled"
    )


def add_call(run, name, start, end, *, position):
    return ToolCall.objects.create(
        run=run,
        step=run.steps.get(index=0),
        position=position,
        name=name,
        arguments={"note": "of the order"},
        status="complete",
        started_at=at(start),
        finished_at=at(end),
    )


def drawn(run):
    return timeline_entry(trace_rows(run))


def page_of(run):
    return reverse("admin:ai_assistant_run_change", args=[run.pk])


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions of the app."""

    def sign_in(*codenames):
        user, _new = get_user_model().objects.get_or_create(
            username="grace", is_staff=True
        )
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


class TestTrace:
    def test_spans_in_the_order_in_which_they_began(self, run):
        spans = drawn(run)["spans"]

        assert [(span["kind"], span["title"]) for span in spans] == [
            ("wait", "Queue"),
            ("model", "Model call 1"),
            ("tool", "find_orders"),
            ("person", "Approval: delete_order"),
            ("tool", "delete_order"),
            ("model", "Model call 2"),
        ]
        assert [span["took"] for span in spans[:4]] == [
            "1.00 s",
            "2.00 s",
            "1.00 s",
            "1 h 6 min",
        ]
        assert spans[3]["detail"] == "approved, ada"

    def test_wait_for_a_person_leaves_room_for_the_work(self, run):
        spans = drawn(run)["spans"]

        assert sum(span["width"] for span in spans) == pytest.approx(1000, abs=6)
        assert spans[1]["width"] == pytest.approx(2 * spans[2]["width"], abs=2)
        assert spans[3]["width"] < spans[2]["width"]
        assert spans[5]["x"] + spans[5]["width"] == pytest.approx(1000, abs=1)

    def test_model_call_that_was_begun_again_ends_where_the_next_begins(self, run):
        append_events(run.pk, [StepStarted(index=1)], first_seq=3, epoch=2)
        RunEvent.objects.filter(run=run, seq=3).update(created_at=at(4001.5))
        again, last = drawn(run)["spans"][-2:]

        assert (again["detail"], again["took"]) == ("begun again", "0.50 s")
        assert (last["detail"], last["took"]) == ("gpt-5", "0.50 s")

    def test_run_that_waits_for_a_person_goes_on(self, run):
        Interrupt.objects.update(status="open", decided_at=None, decided_by=None)
        Run.objects.update(finished_at=None, state="waiting_approval")
        run.refresh_from_db()
        waits = next(s for s in drawn(run)["spans"] if s["kind"] == "person")

        assert waits["goes_on"]
        assert waits["detail"] == "open"

    def test_read_that_was_not_claimed_is_there_from_its_beginning(self, run):
        call = add_call(run, "get_object", 3, 4, position=9)
        ToolCall.objects.filter(pk=call.pk).update(started_at=None, created_at=at(3))

        (span,) = [s for s in drawn(run)["spans"] if s["title"] == "get_object"]

        assert span["kind"] == "tool"

    def test_run_that_was_never_begun_has_waited(self, run):
        Run.objects.create(
            conversation=Conversation.objects.create(owner=run.user),
            user=run.user,
            idempotency_key="other",
        )
        spans = drawn(Run.objects.get(idempotency_key="other"))["spans"]

        assert [(span["title"], span["goes_on"]) for span in spans] == [("Queue", True)]

    def test_asked_agent_is_linked(self, run, admin_client):
        call = run.calls.get(name="find_orders")
        child = Run.objects.create(
            conversation=Conversation.objects.create(owner=run.user, parent_call=call),
            user=run.user,
            idempotency_key="child",
            agent="analyst",
            root=run,
        )

        page = admin_client.get(page_of(run)).content.decode()
        assert f'<a href="{page_of(child)}">Agent analyst</a>' in page


class TestPage:
    def test_empty_fields_are_left_out(self, run, admin_client):
        assert b"field-error_text" not in admin_client.get(page_of(run)).content

        Run.objects.update(error_text="The model is down.")
        assert b"field-error_text" in admin_client.get(page_of(run)).content

    def test_page_tells_no_arguments_and_links_no_calls_without_permission(
        self, run, staff
    ):
        Conversation.objects.update(title="On the order")
        page = staff("view_run").get(page_of(run)).content.decode()

        assert "find_orders" in page
        assert "On the order" not in page
        assert "of the order" not in page
        assert "/toolcall/" not in page
        assert "4,711" not in page

    def test_costs_and_calls_by_their_own_permissions(self, run, staff):
        client = staff("view_run", "view_toolcall", "view_usage")
        page = client.get(page_of(run)).content.decode()

        assert "4,711" in page
        assert f"/toolcall/{run.calls.get(name='find_orders').pk}/change/" in page

    def test_queries_do_not_grow_with_steps_and_calls(
        self, run, admin_client, django_assert_max_num_queries
    ):
        for index in range(2, 50):
            add_step(run, index, 4002, 4003)
        for position in range(2, 200):
            add_call(run, "find_orders", 3, 4, position=position)

        admin_client.get(page_of(run))  # what a process keeps, as the rows of modules
        with django_assert_max_num_queries(15):
            page = admin_client.get(page_of(run)).content.decode()
        assert page.count("<summary>") >= 50
        assert page.count("of the order") == 200


def fact(run, *facts, seconds):
    """Store events behind those of the run, at this second."""
    first = RunEvent.objects.filter(run=run).count() + 1
    append_events(run.pk, facts, first_seq=first, epoch=2)
    RunEvent.objects.filter(run=run, seq__gte=first).update(created_at=at(seconds))


class TestInterruptions:
    def test_wait_for_another_try_and_takeover_are_in_the_timeline(self, run):
        fact(
            run,
            Custom(name="aia.waiting", value={"state": "waiting_retry"}),
            seconds=4001.2,
        )
        fact(run, Custom(name="aia.resumed", value={"attempt": 1}), seconds=4001.7)
        fact(run, StepStarted(index=1), seconds=4001.8)

        spans = {s["title"]: s for s in drawn(run)["spans"]}

        assert spans["Wait before another try"]["took"] == "0.50 s"
        assert spans["Taken over by another process"]["detail"] == "interruption 1"

    def test_hook_that_failed_and_what_a_hook_made_of_a_call(self, run, staff):
        Run.objects.update(
            hook_errors=[
                {"hook": "guard", "point": "before_tool", "error": "<Oh>", "count": 3}
            ]
        )
        hooked = {"by": "guard", "approval": "It is dear.", "changed_by": ["tidy"]}
        run.calls.filter(name="delete_order").update(hooked=hooked)

        Conversation.objects.update(title="On the order")

        client = staff("view_run", "view_conversation")
        page = client.get(page_of(run)).content.decode()
        assert "&lt;Oh&gt;" in page
        assert "On the order" in page
        assert "The hook “guard” asked for an approval: It is dear." in page
        assert "The hook “tidy” changed its arguments." in page


class TestSteps:
    def test_reply_approval_change_and_links_for_who_may_see_them(
        self, run, staff, people
    ):
        message = run.steps.get(index=1).message
        message.parts = [
            {"type": "reasoning", "text": "They want it gone."},
            {"type": "text", "text": "It is gone; sk-live-0123456789abcdefghij."},
        ]
        message.save()
        change = ChangeSet.objects.create(
            run=run, call=run.calls.get(name="delete_order"), user=run.user
        )
        RowChange.objects.create(
            change_set=change, order=0, model="auth.group", object_id="7", text="Staff"
        )

        client = staff("view_run", "view_conversation", "view_changeset")
        page = client.get(page_of(run)).content.decode()
        assert "They want it gone." in page
        assert "It is gone; " in page
        assert "sk-live-0123456789abcdefghij" not in page
        assert "approved, ada, " in " ".join(page.split())
        group = reverse("admin:auth_group_change", args=["7"])
        assert f'<a href="{group}">Group: Staff</a>' in page
        for name, key in (("changeset", change.pk),):
            there = reverse(f"admin:ai_assistant_{name}_change", args=[key])
            assert there in page
        assert f"{reverse('ai_assistant:undo')}?change={change.pk}" in page
        assert "of the order" not in page  # arguments are those of calls
        client = staff("view_run", "view_conversation")
        assert "Group: Staff" not in client.get(page_of(run)).content.decode()

    def test_child_unfolds_with_its_own_timeline(self, run, staff):
        call = run.calls.get(name="find_orders")
        child = Run.objects.create(
            conversation=Conversation.objects.create(owner=run.user, parent_call=call),
            user=run.user,
            idempotency_key="child",
            agent="analyst",
            root=run,
        )
        add_step(child, 0, 3, 4)

        page = staff("view_run").get(page_of(run)).content.decode()

        assert "What the agent analyst did" in page
        assert page.count("Model call 1") == 2

    def test_link_leads_to_its_entries_of_the_audit_log(self, told, staff):
        run = told("ada").runs.get()
        told("bob")
        client = staff("view_run", "view_auditentry")

        page = client.get(page_of(run)).content.decode()
        (link,) = re.findall(r'href="([^"]*/auditentry/[^"]+)"', page)
        found = client.get(link).context["cl"].queryset
        assert {entry.run_id for entry in found} == {run.pk}
        client = staff("view_run")
        assert "/auditentry/" not in client.get(page_of(run)).content.decode()


class TestOwn:
    """A person sees what happened in their own runs, as the panel shows it."""

    @pytest.fixture
    def ada(self, run, client):
        run.user.is_staff = True
        run.user.save()
        names = ("view_assistant", "use_assistant")
        found = Permission.objects.filter(codename__in=names)
        run.user.user_permissions.set(found)
        client.force_login(run.user)
        return client

    def test_own_run_without_costs_and_what_is_for_operators(self, run, ada):
        Run.objects.update(error_detail="at 10.0.0.7", hook_errors=[{"hook": "guard"}])

        page = ada.get(page_of(run)).content.decode()

        assert "of the order" in page
        for kept in ("4,711", "10.0.0.7", "guard", "/toolcall/", "/auditentry/"):
            assert kept not in page

    def test_not_while_the_assistant_is_off_or_they_may_not_see_it(
        self, run, ada, settings
    ):
        run.user.user_permissions.clear()
        assert ada.get(page_of(run)).status_code == 403
        run.user.user_permissions.set(
            Permission.objects.filter(codename="view_assistant")
        )
        assert ada.get(page_of(run)).status_code == 200
        settings.AI_ASSISTANT = {"ENABLED": False}
        assert ada.get(page_of(run)).status_code == 403
