"""
Anything may happen to runs, in any order, and each call still has its one effect.

A walk sends messages, executes runs, kills their processes at any commit, answers,
stops, sweeps and works on tasks, as its dice fall. Then everything is brought to
its end, and the oracle and the effects are looked at.
"""

import random
from collections import Counter

import pytest

from ai_assistant import Ask, RunContext
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.sweep import claim_runs, sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import with_connections
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import BackgroundCall, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import FINAL, Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import dead_owner
from tests.engine.kill import Kill
from tests.engine.oracle import check_all_runs
from tests.testapp.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.broad]

PIECES = 3
TOOLS = ("look", "note", "note_asked", "curious", "mail", "long", "boom", "nothing")


class Killed(BaseException):
    """The process of a background call is gone."""


class Walk:
    """Random steps over real runs, from one seed."""

    def __init__(self, seed, submission, monkeypatch, given_out):
        self.dice = random.Random(seed)
        self.submission = submission
        self.monkeypatch = monkeypatch
        self.given_out = given_out
        self.mails = []
        self.killing = False

    # --- tools ---

    def note(self, context: RunContext) -> str:
        Effect.objects.create(key=context.idempotency_key, run=context.run_id)
        return "noted"

    def curious(self, context: RunContext) -> str:
        if "answer" not in context.answers:
            Effect.objects.create(key="never", run=context.run_id)
            raise Ask("Well?")
        return self.note(context)

    def mail(self, context: RunContext) -> str:
        self.mails.append(context.idempotency_key)
        return "sent"

    def long(self, context: RunContext) -> str:
        for number in range(context.mark or 0, PIECES):
            with context.transaction(mark=number + 1):
                key = f"{context.idempotency_key}:{number}"
                Effect.objects.create(key=key, run=context.run_id)
            context.progress(number / PIECES)
            if self.killing and self.dice.random() < 0.5:
                raise Killed
        return "done"

    # --- steps ---

    async def model(self, _request):
        if self.dice.random() < 0.3:
            return reply("An answer of some words.")
        asked = self.dice.choices(TOOLS, k=self.dice.randint(1, 3))
        return reply(self.dice.choice(["", "Let me see."]), *map(call, asked))

    def send(self):
        conversation = Run.objects.order_by("?").first()
        known = conversation and self.dice.random() < 0.6
        fields = {"conversation_id": conversation.conversation_id} if known else {}
        owner = this_process() if self.dice.random() < 0.5 else ""
        accepted = accept(self.submission("Do", **fields), owner=owner)
        if accepted.hold is not None:
            self.execute(accepted.hold)

    def execute(self, hold):
        with self.monkeypatch.context() as patch:
            at = self.dice.randint(0, 12) if self.killing else 999
            kill = Kill(patch, at=at, after=self.dice.random() < 0.5)
            kill.execute(hold)
        if kill.seen > at:
            Run.objects.filter(pk=hold.run_id, state="running").update(
                owner=dead_owner()
            )

    def take(self):
        for hold in claim_runs(this_process(), 1):
            self.execute(hold)

    def answer(self):
        interrupt = (
            Interrupt.objects.filter(status="open")
            .exclude(kind="task")
            .select_related("run")
            .order_by("?")
            .first()
        )
        if interrupt is None:
            return
        decision = self.dice.choice(["approve", "approve", "deny"])
        given = Answer(
            user_id=interrupt.run.user_id,
            interrupt_id=interrupt.pk,
            nonce=interrupt.nonce,
            decision=decision,
            text="because",
        )
        answer(given)

    def work(self):
        if not self.given_out:
            return
        call_id = self.given_out.pop()
        try:
            with_connections(perform, call_id)
        except Killed:
            BackgroundCall.objects.filter(pk=call_id).update(owner=dead_owner())

    def stop(self):
        run = Run.objects.exclude(state__in=FINAL).order_by("?").first()
        if run is not None:
            stop(run.pk)

    def sweep(self):
        sweep_once()
        BackgroundCall.objects.filter(call__status="pending").update(sent_at=0)

    def step(self):
        chosen = self.dice.choices(
            [self.send, self.take, self.answer, self.work, self.stop, self.sweep],
            weights=[3, 5, 4, 4, 1, 3],
        )[0]
        try:
            chosen()
        except Refused as refused:
            assert refused.code in ("busy", "already_answered", "too_many_runs")

    def end(self):
        """Bring everything to its end, without killing any more."""
        self.killing = False
        for _ in range(200):
            if not Run.objects.exclude(state__in=FINAL).exists():
                return
            for step in (self.sweep, self.work, self.answer, self.take):
                step()
        raise AssertionError(list(Run.objects.values_list("state", flat=True)))


class TestWalks:
    @pytest.mark.row("L05")
    @pytest.mark.row("H14")
    @pytest.mark.parametrize("seed", range(6))
    def test_every_call_has_its_one_effect(
        self, seed, submission, function_model, offer, options, monkeypatch, given_out
    ):
        walk = Walk(seed, submission, monkeypatch, given_out)
        options(LIMITS={"STEPS": 4, "RUNS_PER_USER": 9}, POLICY={"note_asked": "ask"})
        writes = {"effect": "write", "policy": "allow"}
        offer(lambda: "seen", name="look")
        offer(walk.note, **writes)
        offer(walk.note, name="note_asked", effect="write")
        offer(walk.curious, **writes)
        offer(walk.mail, external=True, **writes)
        offer(walk.long, background=True, resumable=True, **writes)
        function_model(walk.model)
        walk.killing = True

        for number in range(40):
            walk.step()
            if number % 10 == 9:
                check_all_runs()
        walk.end()

        check_effects(walk.mails)


def check_effects(mails):
    effects = Counter(Effect.objects.values_list("key", flat=True))
    assert set(effects.values()) <= {1}
    sent = Counter(mails)
    assert set(sent.values()) <= {1}
    expected = set()
    for one in ToolCall.objects.all():
        key = f"{one.run_id}:{one.step_id}:{one.position}"
        done = one.status == "complete"
        if one.name in ("note", "note_asked", "curious") and done:
            expected.add(key)
        if one.name == "long":
            pieces = [f"{key}:{number}" for number in range(PIECES)]
            there = [piece for piece in pieces if piece in effects]
            assert not done or there == pieces
            expected |= set(there)
        if one.name == "mail":
            assert not done or key in sent
            assert done or one.status == "unknown" or key not in sent
    assert set(effects) == expected


def test_a_walk_can_fail(submission, monkeypatch, given_out):
    """An effect without its call is seen."""
    Effect.objects.create(key="x", run="00000000-0000-0000-0000-000000000000")

    with pytest.raises(AssertionError):
        check_effects([])
