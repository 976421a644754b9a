"""Who has lost the right to something has no effect after that, in whatever state."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from ai_assistant import Ask, RunContext
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.attacks.person import Person, open_of
from tests.attacks.ways import WAYS
from tests.engine.conftest import resume
from tests.figures import cell
from tests.testapp.models import Effect
from tests.thorough import part

pytestmark = pytest.mark.django_db(transaction=True)

NEEDED = "testapp.change_effect"
ACT = reply("", call("act"))


@pytest.fixture
def at(staff, script, offer, options, given_out):
    """A member of an editors' group, whose site lets the tools write at once."""
    editors = Group.objects.create(name="editors")
    editors.permissions.set(
        Permission.objects.filter(content_type__app_label="testapp")
    )
    staff.groups.add(editors)
    at = SimpleNamespace(script=script, options=options, offer=offer)
    at.nora = Person(staff)
    at.is_over = False

    def act(context: RunContext) -> None:
        """Have an effect."""
        Effect.objects.create(key="act", run=context.run_id)

    def outside(context: RunContext) -> None:
        """Have an effect that no transaction takes back."""
        Effect.objects.create(key="outside", run=context.run_id)

    def pieces(context: RunContext) -> None:
        """Have three effects; the person is revoked after the first."""
        for number in range(3):
            with context.transaction(mark=number + 1):
                key = "late" if at.is_over else "early"
                Effect.objects.create(key=key, run=context.run_id)
            if number == 0:
                at.revoke()

    at.free = {
        "effect": "write",
        "permission": NEEDED,
        "policy": "allow",
        "takes_data": True,
    }
    offer(act, **at.free)
    offer(outside, external=True, **at.free)
    offer(pieces, background=True, resumable=True, **at.free)
    return at


def effects():
    return list(Effect.objects.exclude(key="early").values_list("key", flat=True))


def says(at, *replies):
    at.script.add(*replies, *["Done."] * 4)


def sent(at, *replies):
    says(at, *replies)
    assert at.nora.say("Go.").status_code == 204
    return Run.objects.latest("created_at")


# --- the states ---


def queued(at):
    sent(at, ACT)
    at.revoke()


def between_steps(at):
    at.offer(at.revoke, name="revoke")
    resume(sent(at, reply("", call("revoke")), ACT))


def between_calls(at):
    at.offer(at.revoke, name="revoke", effect="write", policy="allow")
    resume(sent(at, reply("", call("revoke"), call("act"), call("outside"))))


def while_the_model_speaks(at):
    async def model(request):
        import asyncio

        if not at.is_over:
            await asyncio.to_thread(at.revoke)
            return ACT
        return "Done."

    at.function_model(model)
    resume(sent(at))


def before_the_write(at):
    def prepare() -> None:
        at.revoke()

    at.offer(
        lambda: Effect.objects.create(key="prepared", run="0" * 32) and None,
        name="prepared",
        prepare=prepare,
        **at.free,
    )
    resume(sent(at, reply("", call("prepared"))))


def approved(at):
    at.options(POLICY={"act": "ask"})
    run = resume(sent(at, ACT, ACT))
    at.nora.answer_all(run)
    at.revoke()


def not_yet_approved(at):
    at.options(POLICY={"act": "ask"})
    run = resume(sent(at, ACT, ACT))
    at.revoke()
    at.nora.answer_all(run)


def approval_runs_out(at):
    """The run goes on by itself when nobody has decided."""
    at.options(POLICY={"act": "ask"})
    run = resume(sent(at, ACT, reply("", call("outside"))))
    at.revoke()
    run.interrupts.update(expires_at=timezone.now() - timedelta(seconds=1))


def one_of_two_approved(at):
    at.options(POLICY={"act": "ask", "outside": "ask"})
    run = resume(sent(at, reply("", call("act"), call("outside"))))
    at.nora.answer(open_of(run)[0])
    at.revoke()
    run.interrupts.update(expires_at=timezone.now() - timedelta(seconds=1))


def allowed_for_the_run(at):
    at.options(POLICY={"act": "ask"})
    run = resume(sent(at, ACT, ACT, ACT))
    at.nora.answer_all(run, "approve_for_run")
    at.revoke()


def asker(context: RunContext) -> None:
    """Ask, then have an effect."""
    if "answer" not in context.answers:
        raise Ask("Shall I?")
    Effect.objects.create(key="asked", run=context.run_id)


def waiting_answer(at, *, first=lambda at, run: None, then=lambda at, run: None):
    at.offer(asker, **at.free)
    run = resume(sent(at, reply("", call("asker")), ACT))
    assert run.state == "waiting_answer"
    first(at, run)
    at.revoke()
    then(at, run)


def answered(at):
    waiting_answer(at, first=lambda at, run: at.nora.answer_all(run, answer="Yes"))


def not_yet_answered(at):
    waiting_answer(at, then=lambda at, run: at.nora.answer_all(run, answer="Yes"))


def answered_by_a_message(at):
    waiting_answer(at, then=lambda at, run: at.nora.say("Yes", run))


def answer_runs_out(at):
    def late(at, run):
        run.interrupts.update(expires_at=timezone.now() - timedelta(seconds=1))

    waiting_answer(at, then=late)


def from_the_page(at, run):
    request = run.interrupts.get(kind="browser")
    fields = {"interrupt": request.pk, "nonce": request.nonce, "tab": "one"}
    at.nora.post("claim", fields)
    at.nora.post("result", {**fields, "value": '"done"'})


def pointing(at):
    run = resume(sent(at, reply("", call("highlight", {"selector": "#a"})), ACT))
    assert run.state == "waiting_browser"
    return run


def waiting_browser(at):
    run = pointing(at)
    at.revoke()
    from_the_page(at, run)


def page_has_answered(at):
    run = pointing(at)
    from_the_page(at, run)
    at.revoke()


def page_is_silent(at):
    run = pointing(at)
    at.revoke()
    run.interrupts.update(expires_at=timezone.now() - timedelta(seconds=1))


def task(at):
    run = resume(sent(at, reply("", call("pieces")), ACT))
    assert run.state == "waiting_task"
    return run.calls.get()


def waiting_task(at):
    task(at)
    at.revoke()


def between_pieces(at):
    perform(task(at).pk)


def task_beside_an_approval(at):
    """The run waits for the person, while its task goes on."""
    at.options(POLICY={"act": "ask"})
    run = resume(sent(at, reply("", call("pieces"), call("act"))))
    assert run.state == "waiting_approval"
    perform(run.calls.get(name="pieces").pk)


def task_beside_a_question(at):
    at.offer(asker, **at.free)
    run = resume(sent(at, reply("", call("pieces"), call("asker"))))
    assert run.state == "waiting_answer"
    perform(run.calls.get(name="pieces").pk)


def task_done_then_revoked(at):
    made = task(at)
    at.revoke, revoke = lambda: None, at.revoke
    perform(made.pk)
    at.revoke = revoke
    Effect.objects.all().delete()
    at.revoke()


STATES = (
    queued,
    between_steps,
    between_calls,
    while_the_model_speaks,
    before_the_write,
    approved,
    not_yet_approved,
    approval_runs_out,
    one_of_two_approved,
    allowed_for_the_run,
    answered,
    not_yet_answered,
    answered_by_a_message,
    answer_runs_out,
    waiting_browser,
    page_has_answered,
    page_is_silent,
    waiting_task,
    between_pieces,
    task_beside_an_approval,
    task_beside_a_question,
    task_done_then_revoked,
)


def carry_all_on(given_out):
    """Let time pass: what has run out ends, what can go on goes on."""
    for _ in range(4):
        sweep_once()
        while given_out:
            perform(given_out.pop())
        for run in Run.objects.filter(state="queued"):
            resume(run)


# Each state and each way is in the part, since 5 divides neither number.
PAIRS = part([(state, way) for way in WAYS for state in STATES], every=11)


@pytest.mark.parametrize(("state", "way"), PAIRS, ids=lambda item: item.__name__)
def test_no_effect_after_it(at, given_out, function_model, state, way, record_property):
    at.function_model = function_model
    before = []

    def revoke():
        if not at.is_over:
            way(at.nora)
            at.is_over = True
            before[:] = effects()

    at.revoke = revoke
    state(at)
    assert at.is_over
    carry_all_on(given_out)

    later = len(effects()) - len(before)
    record_property(*cell("effects after", state.__name__, way.__name__, later))
    assert later == 0


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_without_it_there_is_one(at, given_out, function_model, state):
    """Else the above would prove nothing."""
    at.function_model = function_model

    def revoke():
        at.is_over = True

    at.revoke = revoke
    state(at)
    carry_all_on(given_out)

    assert effects()
