"""
A run as the engine writes it, one commit at a time, with the live frames it sends.

The commits are the engine's own; what a test decides is when each of them happens.
"""

from uuid import uuid4

from django.utils import timezone

from ai_assistant.engine.execution.resume import judge_interrupted, load_plan
from ai_assistant.engine.execution.steps import StepReply, store_reply
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import Submission
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer, wait_state
from ai_assistant.engine.interrupts.question import QUESTION
from ai_assistant.engine.interrupts.results import call_moved, record_result
from ai_assistant.engine.lifecycle.commits import write
from ai_assistant.engine.lifecycle.finish import SUCCEEDED, Ending, finish
from ai_assistant.engine.lifecycle.stop import end_unheld, stop
from ai_assistant.engine.loop.loop import _Parts
from ai_assistant.engine.storage.lease import Hold, claim_lease
from ai_assistant.events import (
    Custom,
    ReasoningContent,
    StepFinished,
    StepStarted,
    TextContent,
)
from ai_assistant.exceptions import Ask
from ai_assistant.models import Conversation, Interrupt, Run, ToolCall
from ai_assistant.models.call import OPEN_CALL
from ai_assistant.models.run import UNFINISHED, RunState
from ai_assistant.types import ModelReply, RequestedCall, ToolResult, Usage

FAILED = Ending(state=RunState.FAILED, code="cut", text="The answer was cut <off>.")
LIMITED = Ending(state=RunState.LIMITED, code="limit_steps", text="Stopped.")
STOPPED = Ending(state=RunState.CANCELLED, code="stopped")
CALLS = {
    "echo": '{"text": "<b>read</b>"}',
    "needs_approval": '{"text": "an <i>effect</i>"}',
    "no_such_tool": "{}",
    "broken": '{"text": ',
}


class Stretch:
    """What one process knows of the run that it executes."""

    def __init__(self, hold: Hold) -> None:
        self.hold = hold
        self.pending: list = []
        self.message_id = str(uuid4())
        self.parts = _Parts(self.message_id)
        self.text = ""
        self.reasoning = ""
        self.step = 0

    def begin_step(self, index: int) -> None:
        self.step = index
        self.pending.append(StepStarted(index=index))


class Story:
    """One conversation of one user."""

    def __init__(self, user) -> None:
        self.user = user
        self.conversation_id = uuid4()
        self.frames: list[dict] = []  # every live frame ever sent
        self.stretch: Stretch | None = None
        self.zombies: list[Stretch] = []
        self.owners = 0

    # --- what may happen now ---

    @property
    def run(self) -> Run | None:
        return Run.objects.filter(conversation_id=self.conversation_id).last()

    @property
    def conversation(self) -> Conversation | None:
        return Conversation.objects.filter(pk=self.conversation_id).first()

    def open_calls(self) -> list[ToolCall]:
        return list(self.run.calls.filter(status__in=OPEN_CALL)) if self.run else []

    def possible(self) -> list[str]:
        """The names of the methods that can be called now."""
        run = self.run
        if run is None or run.is_final:
            return ["ask"]
        if run.state in UNFINISHED and run.state != RunState.RUNNING:
            return ["decide", "type_instead", "stop_waiting"]
        zombie = ["zombie_says"] if self.zombies else []
        if calls := self.open_calls():
            waiting = all(call.status == "waiting" for call in calls)
            doing = ["park"] if waiting else ["work", "show_working", "ask_back"]
            return [*doing, *doing, "flush", "crash", *zombie]
        talking = ["say", "say", "say", "think", "flush"]
        ends = ["fail", "stop_at_work", "reach_limit"]
        if self.stretch.text:
            ends.append("succeed")
        return [*talking, "call_tools", "crash", *ends, *zombie]

    def all_is_stored(self) -> bool:
        """Whether no live frame says more than the rows."""
        if self.zombies or self.stretch is None:
            return False
        kinds = (TextContent, ReasoningContent)
        return not any(isinstance(fact, kinds) for fact in self.stretch.pending)

    # --- commits ---

    def ask(self, text: str) -> None:
        self.owners += 1
        accepted = accept(
            Submission(
                user_id=self.user.pk,
                conversation_id=self.conversation_id,
                key=str(uuid4()),
                text=text.strip() or "Hello <b>you</b>",
            ),
            owner=f"process-{self.owners}",
        )
        self._begin(accepted.hold)

    def think(self, text: str) -> None:
        self.stretch.reasoning += text
        self._say(self.stretch, self.stretch.parts.reasoning(text))

    def say(self, text: str) -> None:
        self.stretch.text += text
        self._say(self.stretch, self.stretch.parts.text(text))

    def zombie_says(self, text: str) -> None:
        """A process that has lost the run, and does not know it yet."""
        zombie = self.zombies[-1]
        self._say(zombie, zombie.parts.text(text))
        zombie.pending.clear()

    def flush(self, _text: str = "") -> None:
        self._commit()

    def call_tools(self, text: str) -> None:
        stretch = self.stretch
        stretch.pending += stretch.parts.close()
        names = [*CALLS, "echo", "echo", "echo"]
        wanted = [
            names[(len(text) + at * 3) % len(names)] for at in range(len(text) % 3 + 1)
        ]
        self._reply(tuple(wanted))

    def work(self, text: str) -> None:
        """The first call that waits for nobody gets its result."""
        call = next(call for call in self.open_calls() if call.status != "waiting")
        result = ToolResult(ok=True, data={"said": text, "tag": "</pre><script>"})
        if len(text) % 5 == 0:
            result = ToolResult(ok=False, error=f"No: <{text}>", error_type="x")
        self._commit(lambda: record_result(call, result))
        self._next_step_if_done()

    def show_working(self, _text: str) -> None:
        call = next(call for call in self.open_calls() if call.status != "waiting")

        def work():
            ToolCall.objects.filter(pk=call.pk).update(
                status="executing", started_at=timezone.now()
            )
            return [call_moved(call, "executing")]

        self._commit(work)

    def ask_back(self, text: str) -> None:
        call = next(call for call in self.open_calls() if call.status != "waiting")
        asked = Ask(f"Which <one>? {text}", options=("a", "<b>"))
        self._commit(lambda: QUESTION.ask(call, asked))

    def park(self, _text: str = "") -> None:
        run = self.run

        def work():
            run.state, run.owner = wait_state(run.pk), ""
            run.save(update_fields=["state", "owner"])
            return [Custom(name="aia.waiting", value={"state": run.state})]

        self._commit(work)

    def decide(self, text: str) -> None:
        interrupt = Interrupt.objects.filter(run=self.run, status="open").first()
        answer(
            Answer(
                user_id=self.user.pk,
                interrupt_id=interrupt.pk,
                nonce=interrupt.nonce,
                decision="approve" if len(text) % 2 else "deny",
                text=text.strip() or "because",
            )
        )
        self._resume_if_queued()

    def type_instead(self, text: str) -> None:
        accept(
            Submission(
                user_id=self.user.pk,
                conversation_id=self.conversation_id,
                key=str(uuid4()),
                text=f"Rather <u>this</u> {text}".strip(),
            )
        )
        self._resume_if_queued()

    def crash(self, _text: str = "") -> None:
        """The process dies, or only seems to; another takes the run over."""
        self.zombies.append(self.stretch)
        self._resume(gone_owner=self.stretch.hold.owner)

    def stop_waiting(self, _text: str = "") -> None:
        stop(self.run.pk)

    def stop_at_work(self, _text: str = "") -> None:
        stop(self.run.pk)
        self._end(STOPPED)

    def fail(self, _text: str = "") -> None:
        self._end(FAILED)

    def reach_limit(self, _text: str = "") -> None:
        self._end(LIMITED)

    def succeed(self, _text: str = "") -> None:
        self.stretch.pending += self.stretch.parts.close()
        self._reply(())
        self._end(SUCCEEDED)

    def end(self) -> None:
        """Bring the run to its end, wherever it stands."""
        run = self.run
        if run is None or run.is_final:
            return
        if run.state == RunState.RUNNING:
            self._end(FAILED)
        else:
            end_unheld(run, STOPPED)

    # --- the engine's part ---

    def _begin(self, hold: Hold) -> None:
        self.stretch = Stretch(hold)
        self.stretch.begin_step(0)

    def _say(self, stretch: Stretch, facts: list) -> None:
        for fact in facts:
            stretch.pending.append(fact)
            if isinstance(fact, TextContent | ReasoningContent):
                self.frames.append(
                    {
                        "run": str(stretch.hold.run_id),
                        "epoch": stretch.hold.epoch,
                        "step": stretch.step,
                        "message": fact.message_id,
                        "reasoning": isinstance(fact, ReasoningContent),
                        "offset": fact.offset,
                        "text": fact.delta,
                    }
                )

    def _commit(self, work=None) -> None:
        batch, self.stretch.pending = self.stretch.pending, []
        if batch or work is not None:
            write(self.stretch.hold, batch, [work] if work else [])

    def _reply(self, names: tuple[str, ...]) -> None:
        stretch, index = self.stretch, self.run.steps.count()
        reply = ModelReply(
            message_id=stretch.message_id,
            text=stretch.text,
            reasoning=stretch.reasoning,
            calls=tuple(
                RequestedCall(
                    position=position,
                    provider_id="same",
                    name="echo" if name == "broken" else name.partition("#")[0],
                    arguments_text=CALLS[name],
                )
                for position, name in enumerate(names)
            ),
            finish_reason="stop",
            usage=Usage(),
            reasoning_s=7.4,
        )
        own = StepReply(index=index, reply=reply, model="scripted")
        self._commit(lambda: store_reply(self.run.pk, own))
        self._next_step_if_done()

    def _next_step_if_done(self) -> None:
        if self.open_calls():
            return
        hold, steps = self.stretch.hold, self.run.steps.count()
        self.stretch = Stretch(hold)
        self.stretch.pending.append(StepFinished(index=steps - 1))
        self.stretch.begin_step(steps)

    def _resume_if_queued(self) -> None:
        if self.run.state == RunState.QUEUED:
            self._resume()

    def _resume(self, *, gone_owner: str = "") -> None:
        self.owners += 1
        run_id = self.run.pk
        hold = claim_lease(run_id, f"process-{self.owners}", gone_owner=gone_owner)
        plan = load_plan(run_id)
        self.stretch = Stretch(hold)
        self._commit(lambda: [*plan.facts, *judge_interrupted(plan.run)])
        if not self.open_calls():
            self.stretch.begin_step(self.run.steps.count())

    def _end(self, ending: Ending) -> None:
        self._commit(lambda: finish(self.run.pk, ending))
