"""The end of a run: its last reply, and what hooks ask for, stored in one transaction."""

from dataclasses import dataclass
from functools import partial

from ai_assistant.engine.execution.resume import Outcome, Plan
from ai_assistant.engine.execution.rounds import Round
from ai_assistant.engine.execution.steps import Conclusion, StepReply, store_reply
from ai_assistant.engine.execution.updates import kept_by
from ai_assistant.engine.lifecycle.commits import Closing, Work
from ai_assistant.engine.lifecycle.finish import SUCCEEDED, Ending, finish
from ai_assistant.engine.lifecycle.hooks import RunHooks
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.events import Event
from ai_assistant.hooks.points import RunEnded, StatusChanged
from ai_assistant.hooks.running import Asks
from ai_assistant.safety.identity.session import SessionStamp


async def end(plan: Plan, ending: Ending, writer: RunWriter) -> Outcome:
    """Store the end of a run, and its last reply with it."""
    own = _End(plan=plan, ending=ending, running_s=writer.running_s())
    await writer.commit_asking(own.works())
    return own.outcome


@dataclass(kw_only=True, slots=True)
class _End:
    plan: Plan
    ending: Ending
    running_s: float
    whole: Conclusion | None = None  # the last reply, if the run has succeeded by it
    has_round: bool = False

    @property
    def outcome(self) -> Outcome:
        """What has become of the run, once it is stored."""
        if self.ending is not SUCCEEDED:
            return Outcome.OTHER
        whole = self.whole
        # With another round, whoever executes runs looks for it.
        is_last = whole is not None and not whole.has_queue and not self.has_round
        return Outcome.LAST if is_last else Outcome.SUCCEEDED

    def works(self) -> Asks[list[Work | Closing]]:
        """Return what is to be stored, once hooks have seen how the run ends."""
        asked = yield from _asked_at_end(self.plan, self.ending)
        hooks, last = self.plan.hooks, self.plan.last_reply
        left = kept_by(hooks) if hooks is not None else []
        return [*left, *self._works(asked, last)]

    def _works(
        self, asked: Round | None, last: StepReply | None
    ) -> list[Work | Closing]:
        run, running_s = self.plan.run, self.running_s
        if last is not None and self.ending is SUCCEEDED:
            whole = self.whole = Conclusion(run=run, own=last, running_s=running_s)
            if asked is None:
                return [Closing(do=whole.store, told=whole.told)]
            self.has_round = True
            return [partial(_store_with_round, whole, asked)]
        finished = partial(finish, run.pk, self.ending, running_s=running_s)
        if last is None:
            return [finished]
        return [partial(store_reply, run.pk, last), finished]


def _store_with_round(whole: Conclusion, asked: Round) -> list[Event]:
    return [*asked.said, *whole.store(), *asked.store()]


def _asked_at_end(plan: Plan, ending: Ending) -> Asks[Round | None]:
    """Let hooks see how a run ends; return the round that they ask for."""
    hooks = plan.hooks
    if hooks is None:  # it ended before it began
        hooks = plan.hooks = RunHooks(plan.run, RunScope(plan.run, plan.user))
    moved, found = hooks.at("status_changed"), hooks.at("run_finished")
    last = plan.last_reply
    ended = RunEnded(
        state=ending.state,
        text=last.reply.text if last else "",
        error=ending.text,
        steps=plan.state.step_index,
    )
    state = StatusChanged(state=ending.state)
    _told, outcome = yield from hooks.asks_each(
        [(moved, hooks.asking(state)), (found, hooks.asking(ended))]
    )
    wanted = outcome.next_round
    if wanted is None or ending is not SUCCEEDED:
        return None
    # Now: with its end the run forgets its session.
    return Round(run=plan.run, wanted=wanted, stamp=SessionStamp.of(plan.run))
