"""What code of the site has started asks before each write, and ends with its person."""

import asyncio

import pytest
from django.urls import reverse

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.changes.values import Changes, ObjectChange
from ai_assistant.engine.calls.provenance import typed_by_person
from ai_assistant.engine.execution.dequeue import (
    SendNowRequest,
    send_now,
    start_waiting,
)
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.lifecycle.queue import take_over
from ai_assistant.engine.lifecycle.revocation import revoke
from ai_assistant.engine.service import answer as service_answer
from ai_assistant.exceptions import Refused
from ai_assistant.hooks.points import NextRound
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.safety.identity.session import SessionStamp, session_digest
from ai_assistant.testing import call, reply
from tests.attacks.person import card, go_on, open_of
from tests.attacks.test_tokens import Program
from tests.attacks.ways import (
    change_password,
    deactivate,
    remove_session,
    sign_out,
    take_staff,
    take_use,
)
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect
from tests.tools.data.writing import make_stock

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P05")]

ENDS = [deactivate, take_staff, take_use]
STAYS = [sign_out, remove_session, change_password]
NAMED = reply("", call("mark", {"word": "Winter"}))


@pytest.fixture(autouse=True)
def site(offer, options):
    """A site that lets every tool write at once."""

    def mark(context: RunContext, word: str) -> None:
        """Write a word down."""
        Effect.objects.create(key=word, run=context.run_id)

    def look() -> str:
        """Look."""
        return "a row"

    options(POLICY={".*": "allow"})
    offer(look)
    offer(mark, effect="write", policy="allow")
    return offer


def begun(person, text="Write it down", **fields):
    """Return a run that code of the site has started, not executed yet."""
    return ai_assistant.start(user=person.user, text=text, **fields).run


def words():
    return list(Effect.objects.values_list("key", flat=True))


class TestAccess:
    @pytest.mark.parametrize("way", ENDS)
    def test_queued_one_ends_with_the_access_of_its_person(self, nora, script, way):
        script.add("Never said.")
        run = begun(nora)
        way(nora)

        run = resume(run)

        assert (run.state, script.requests) == ("cancelled", [])

    @pytest.mark.parametrize("way", ENDS)
    def test_one_under_way_ends_at_the_next_check(self, nora, script, offer, way):
        offer(lambda: way(nora), name="revoke", effect="read")
        look = reply("", call("look"))
        script.add(reply("", call("revoke")), look, NAMED, "Never said.")

        run = resume(begun(nora))

        assert (run.state, words(), len(script.requests)) == ("cancelled", [], 2)

    @pytest.mark.parametrize("way", STAYS)
    def test_queued_one_outlives_sessions(self, nora, script, way):
        script.add("Done.")
        run = begun(nora)
        way(nora)
        sweep_once()

        assert resume(run).state == "succeeded"

    @pytest.mark.parametrize("way", STAYS)
    def test_one_that_was_approved_outlives_the_session_of_it(self, nora, script, way):
        script.add(NAMED, "Done.")
        run = resume(begun(nora))
        assert nora.answer(card(run)).status_code == 204
        way(nora)
        sweep_once()

        assert go_on(run).state == "succeeded"
        assert words() == ["Winter"]

    @pytest.mark.parametrize("way", ENDS)
    def test_one_that_was_approved_ends_with_the_access(self, nora, script, way):
        script.add(NAMED, "Never said.")
        run = resume(begun(nora))
        assert nora.answer(card(run)).status_code == 204
        way(nora)

        assert (go_on(run).state, words()) == ("cancelled", [])

    def test_message_that_waits_outlives_sessions(self, nora, script):
        script.add("One.", "Two.")
        first = begun(nora)
        ai_assistant.start(
            user=nora.user, text="Second", conversation=first.conversation_id
        )
        for way in STAYS[1:]:
            way(nora)
        resume(first)

        (second,) = start_waiting()
        assert resume(Run.objects.get(pk=second.run_id)).state == "succeeded"

    def test_message_that_waits_outlives_the_session_that_let_the_queue_go_on(
        self, nora, script
    ):
        script.add("One.", "Two.", "Three.")
        first = begun(nora)
        named = {"user": nora.user, "conversation": first.conversation_id}
        ai_assistant.start(text="Second", **named)
        ai_assistant.start(text="Third", **named)
        # As when its person presses “Continue”: all of them get that session.
        take_over(first.conversation_id, SessionStamp(session_digest=digest_of(nora)))
        sign_out(nora)

        assert resume(first).state == "succeeded"
        (second,) = start_waiting()
        assert resume(Run.objects.get(pk=second.run_id)).state == "succeeded"

    def test_audit_log_says_that_no_person_has_started_it(self, nora, options):
        options(AUDIT={"STARTS": True})
        run = begun(nora)

        entry = AuditEntry.objects.get(action="run.started", run_id=run.pk)
        assert entry.details["channel"] == "code"


def digest_of(person):
    return session_digest(person.client.session.session_key)


class TestWrites:
    @pytest.mark.parametrize("label", ["data", "site", "user"])
    def test_write_asks_whatever_the_site_allows(self, nora, script, label):
        script.add(NAMED, "Done.")

        run = resume(begun(nora, "Write down Winter", label=label))

        assert (run.state, words()) == ("waiting_approval", [])
        assert run.calls.get().asks_because == (
            "Asks because code of this site has asked for it, not you."
        )

    @pytest.mark.parametrize(
        "fields",
        [
            {"takes_data": True, "policy": "allow"},
            {"external": True},
            {"background": True},
            {"effect": "destructive"},
        ],
        ids=lambda fields: next(iter(fields)),
    )
    def test_tool_of_each_kind_asks(self, nora, script, site, fields):
        def act(context: RunContext) -> None:
            """Have an effect."""
            Effect.objects.create(key="act", run=context.run_id)

        site(act, **{"effect": "write", **fields})
        script.add(reply("", call("act")), "Done.")

        run = resume(begun(nora))

        assert (run.state, words()) == ("waiting_approval", [])

    def test_second_write_asks_again(self, nora, script):
        script.add(NAMED, reply("", call("mark", {"word": "Spring"})), "Done.")
        run = resume(begun(nora))
        nora.answer(card(run))

        run = go_on(run)

        assert (run.state, words()) == ("waiting_approval", ["Winter"])

    def test_it_cannot_be_allowed_for_the_whole_answer(self, nora, script):
        script.add(NAMED, "Done.")
        run = resume(begun(nora))

        refusal = nora.answer(card(run), "approve", for_run="1")

        assert "code of this site has asked for it" in refusal.content.decode()
        assert not Grant.objects.exists()
        assert go_on(run).state == "waiting_approval"

    def test_its_card_offers_no_such_thing(self, nora, script):
        script.add(NAMED, "Done.")
        run = resume(begun(nora))

        page = panel_of(nora, run)

        assert "data-aia-approve" in page
        assert 'name="for_run"' not in page

    @pytest.mark.parametrize("preview", [None, "look"])
    def test_grant_does_not_count_for_it(self, nora, script, site, preview):
        """It cannot come to be; if it did, a write would ask all the same."""

        def seen(context: RunContext, word: str) -> Changes:
            one = ObjectChange(
                kind="change", model="testapp.effect", object_id="1", text="x"
            )
            return Changes(title="x", model="testapp.effect", objects=(one,), total=1)

        def mark(context: RunContext, word: str) -> None:
            """Write a word down."""
            Effect.objects.create(key=word, run=context.run_id)

        site(mark, effect="write", **({"preview": seen} if preview else {}))
        run = begun(nora)
        model = "testapp.effect" if preview else ""
        Grant.objects.create(run=run, tool="mark", model=model, user=nora.user)
        script.add(NAMED, "Done.")

        run = resume(run)

        assert (run.state, words()) == ("waiting_approval", [])

    def test_round_that_a_hook_asks_for_asks_too(self, nora, script):
        with registry.restored():

            @ai_assistant.hook("run_finished")
            def again(context, value):
                is_first = len(script.requests) == 1
                return (
                    NextRound(to="self", text="Write down Winter") if is_first else None
                )

            script.add("First.", NAMED, "Done.")
            run = resume(begun(nora))
            following = Run.objects.get(continues=run.pk)

            following = resume(following)

        assert (following.channel, following.state) == ("code", "waiting_approval")
        assert words() == []

    @pytest.mark.parametrize(
        "wanted",
        [
            call("navigate_to", {"view_name": "admin:auth_group_changelist"}),
            call("highlight", {"selector": "#id_x"}),
        ],
        ids=lambda wanted: wanted.name,
    )
    def test_it_does_nothing_to_the_page_of_its_person(self, nora, script, wanted):
        script.add(reply("", wanted), "Done.")

        run = resume(begun(nora, page="/admin/password_change/"))

        assert run.state == "succeeded"
        assert run.calls.get().error.startswith(f"“{wanted.name}” is not available")


def panel_of(person, run):
    address = reverse("ai_assistant:full")
    response = person.client.get(address, {"conversation": str(run.conversation_id)})
    return response.content.decode()


class TestApproval:
    @pytest.fixture
    def waiting(self, nora, script):
        script.add(NAMED, "Done.")
        return resume(begun(nora))

    def test_its_person_approves_it_signed_in(self, nora, waiting):
        assert nora.answer(card(waiting)).status_code == 204

        assert go_on(waiting).state == "succeeded"
        assert words() == ["Winter"]

    def test_another_person_cannot(self, ada, waiting):
        ada.answer(card(waiting))

        assert (go_on(waiting).state, words()) == ("waiting_approval", [])

    def test_token_with_every_scope_cannot(self, nora, waiting, settings):
        settings.ROOT_URLCONF = "tests.web.door"
        program = Program(nora.user)

        refusal = program.answer(card(waiting))

        assert refusal.status_code >= 400
        assert (go_on(waiting).state, words()) == ("waiting_approval", [])

    @pytest.mark.parametrize("stamp", [None, SessionStamp()])
    def test_code_of_the_site_cannot(self, waiting, stamp):
        reply_ = given(waiting, "approve", stamp=stamp)
        with pytest.raises(Refused, match="sign in, and approve it") as refused:
            answer(reply_)
        with pytest.raises(Refused):
            asyncio.run(service_answer(reply_))

        assert refused.value.code == "session"
        assert (go_on(waiting).state, words()) == ("waiting_approval", [])

    def test_token_that_has_answered_a_question_takes_nothing_with_it(
        self, nora, script, settings
    ):
        settings.ROOT_URLCONF = "tests.web.door"
        script.add(reply("", call("ask_user", {"question": "Which?"})), "Done.")
        run = resume(begun(nora))
        program = Program(nora.user)
        (question,) = open_of(run)
        assert program.answer(question, "", answer="This").status_code == 200

        revoke(program.token)

        assert go_on(run).state == "succeeded"

    def test_another_start_does_not_answer_it(self, nora, waiting):
        begun_there = ai_assistant.start(
            user=nora.user, text="Yes", conversation=waiting.conversation_id
        )

        assert begun_there.is_queued
        assert len(open_of(waiting)) == 1


class TestWords:
    """What code has sent is not typed by the person, in whatever comes later."""

    def test_label_decides_whether_it_is_typed(self, nora, script):
        script.add("Done.", "Done.", "Done.")
        runs = [
            resume(begun(nora, f"Write down {label}", label=label))
            for label in ("data", "site", "user")
        ]

        typed = [typed_by_person(run.conversation_id) for run in runs]

        assert typed == [[], [], ["Write down user"]]

    @pytest.mark.parametrize(
        ("label", "state"),
        [("data", "waiting_approval"), ("site", "succeeded"), ("user", "succeeded")],
    )
    def test_later_message_of_the_person(self, nora, script, label, state):
        script.add("Done.", NAMED, "Done.")
        first = resume(begun(nora, "Write down Winter", label=label))

        run = nora.ask("Thank you.", first)

        assert run.state == state

    @pytest.mark.parametrize("does", ["regenerate", "edit_message", "retry"])
    def test_another_version_of_it_is_not_typed_either(self, nora, script, does):
        script.add("Done.")
        if does == "retry":
            script.replies[:] = [RuntimeError("broken")]
        first = resume(begun(nora, "Write down Winter"))
        script.replies[len(script.requests) :] = []
        script.add(NAMED, "Done.")
        fields = {"run": str(first.pk), "key": "k", "path": "/admin/"}
        text = {"text": "Write down Winter, please"} if does == "edit_message" else {}

        assert nora.post(does, {**fields, **text}).status_code < 400
        run = resume(Run.objects.latest("created_at"))

        assert run.pk != first.pk
        assert (run.channel, run.messages.first().label) == ("panel", "data")
        assert (run.state, words()) == ("waiting_approval", [])

    def test_message_that_a_run_reads_on_the_way(self, nora, script, site):
        """The person sends what code has queued to the run under way."""
        script.add("Done.", reply("", call("look")), NAMED, "Done.")
        run = resume(begun(nora, "Hello", label="user"))
        nora.say("Look", run)
        working = Run.objects.latest("created_at")
        ai_assistant.start(
            user=nora.user, text="Write down Winter", conversation=run.conversation_id
        )
        queued = run.conversation.queued.get()
        nora.post(
            "queue",
            {
                "do": "now",
                "conversation": str(run.conversation_id),
                "message": str(queued.pk),
            },
        )

        working = resume(working)

        assert working.messages.filter(label="data").count() == 1
        assert (working.state, words()) == ("waiting_approval", [])

    def test_message_that_waits_for_the_next_step(self, nora, function_model):
        """As above, while the model writes: the message takes its place later."""
        seen = []

        def sends_on():
            run = Run.objects.get()
            named = {"conversation": run.conversation_id}
            ai_assistant.start(user=nora.user, text="Write down Winter", **named)
            queued = run.conversation.queued.get()
            place = {"user_id": run.user_id, "conversation_id": run.conversation_id}
            stamp = SessionStamp(session_digest="s" * 64)
            send_now(SendNowRequest(**place, stamp=stamp, queued_id=queued.pk))

        async def model(request):
            seen.append(request)
            if len(seen) > 1:
                return NAMED
            await asyncio.to_thread(sends_on)
            return reply("", call("look"))

        function_model(model)
        run = nora.ask("Look")

        assert run.messages.filter(label="data").count() == 1
        assert (run.state, words()) == ("waiting_approval", [])

    @pytest.mark.parametrize(
        ("is_named", "state"), [(True, "waiting_approval"), (False, "succeeded")]
    )
    def test_page_that_code_names_was_not_opened_by_the_person(
        self, nora, script, site, is_named, state
    ):
        lamp = make_stock().lamp
        page = reverse("admin:warehouse_product_change", args=[lamp.pk])

        def pay(context: RunContext, product_id: int) -> None:
            """Pay a product."""
            Effect.objects.create(key="paid", run=context.run_id)

        site(pay, effect="write")
        script.add("Done.", reply("", call("pay", {"product_id": lamp.pk})), "Done.")
        first = resume(begun(nora, "Look at it", page=page if is_named else ""))

        run = nora.ask("Please pay it.", first, path=page)

        assert run.state == state

    def test_state_that_hooks_make_of_it_is_data(self, nora, script):
        with registry.restored():

            @ai_assistant.hook("user_message_received")
            def keep(context, value):
                context.state["said"] = value.text

            script.add("Done.", "Done.")
            first = resume(begun(nora, "Write down Winter"))
            person = nora.ask("Hello")

        assert first.state_data == list(first.state_values)
        assert person.state_data == []
