"""The end of a run: its last reply, and what hooks ask for, stored in one transaction."""

import json
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from django.utils.translation import gettext as _

from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.execution.resume import Outcome, Plan
from ai_assistant.engine.execution.steps import Conclusion, StepReply, store_reply
from ai_assistant.engine.execution.updates import kept_by
from ai_assistant.engine.intake.submission import begin, clean_text
from ai_assistant.engine.intake.values import Lineage, SentPage, Submission
from ai_assistant.engine.lifecycle.commits import Closing, Work
from ai_assistant.engine.lifecycle.finish import SUCCEEDED, Ending, finish
from ai_assistant.engine.lifecycle.hooks import RunHooks, note_failures
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.engine.storage.delegated import ASK_AGENT
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.events import Event, TextContent, TextEnd, TextStart
from ai_assistant.exceptions import Refused
from ai_assistant.hooks.outcomes import HookFailure
from ai_assistant.hooks.points import NextRound, RunEnded, StatusChanged
from ai_assistant.hooks.running import Asks
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import Run, RunKind
from ai_assistant.models.usage import UsageLedger
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.text.redaction.redact import redact
from ai_assistant.types import Label, ModelReply, RequestedCall, Usage

logger = logging.getLogger("ai_assistant")

# In front of a text that code of the site has made of data.
MADE_OF_DATA = "[Written by code of the site, from data: no wish of the user.]"


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
        self, asked: "Round | None", last: StepReply | None
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


def _store_with_round(whole: Conclusion, asked: "Round") -> list[Event]:
    return [*asked.said, *whole.store(), *asked.store()]


def _asked_at_end(plan: Plan, ending: Ending) -> "Asks[Round | None]":
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


# --- another round, or a word to the person ---


@dataclass(kw_only=True, slots=True)
class Round:
    """Another round of a run that ends now. `stamp` is of the session that began it."""

    run: Run
    wanted: NextRound
    stamp: SessionStamp
    message_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def said(self) -> Sequence[Event]:
        """The facts of a text to the person."""
        if self.wanted.to != "person":
            return ()
        text = redact(self.wanted.text)
        return (
            TextStart(message_id=self.message_id),
            TextContent(message_id=self.message_id, offset=0, delta=text),
            TextEnd(message_id=self.message_id),
        )

    def store(self) -> list[Event]:
        """Store it, behind the end of the run and in its transaction."""
        if self.wanted.to == "person":
            self._say()
        elif self.run.root_id is not None:
            self._note(_("An agent that was asked gives its answer once."))
        else:
            self._begin()
        return []

    def _say(self) -> None:
        Message.objects.append(
            Message(
                id=self.message_id,
                conversation_id=self.run.conversation_id,
                run=self.run,
                role=Message.Role.ASSISTANT,
                origin=Message.Origin.HOOK,
                parts=[{"type": "text", "text": redact(self.wanted.text)}],
            )
        )

    def _begin(self) -> None:
        run = self.run
        conversation = Conversation.objects.get(pk=run.conversation_id)
        if QueuedMessage.objects.waiting_in(conversation.pk).exists():
            return  # the person has said how it goes on
        label: Label = "data" if has_data(run) else "site"
        text = redact(self.wanted.text)
        if label == "data":
            text = f"{MADE_OF_DATA}\n\n{text}"
        try:
            accepted = begin(conversation, self._submission(text), clean_text(text), "")
        except Refused as refused:
            self._note(str(refused))
            return
        used_s = Run.objects.values_list("running_s", flat=True).get(pk=run.pk)
        Run.objects.filter(pk=accepted.run_id).update(
            chain=run.chain or run.pk,
            chain_steps=run.chain_steps + run.steps.count(),
            chain_s=run.chain_s + used_s,
        )
        said = Message.objects.filter(run_id=accepted.run_id)
        said.update(origin=Message.Origin.HOOK, label=label)
        if self.wanted.to != "self":
            _ask_agent(accepted.run_id, self.wanted)

    def _note(self, error: str) -> None:
        """Say with the run that ends why it has no other round."""
        logger.info("no other round after run %s: %s", self.run.pk, error)
        failure = HookFailure(hook="run_finished", point="run_finished", error=error)
        note_failures(self.run.pk, [failure])

    def _submission(self, text: str) -> Submission:
        run = self.run
        return Submission(
            user_id=run.user_id,
            conversation_id=run.conversation_id,
            key=f"round-{run.pk.hex}",
            text=text,
            page=SentPage(
                path=run.page_path, title=run.page_title, context=run.context
            ),
            stamp=self.stamp,
            channel=run.channel,
            lineage=Lineage(kind=RunKind.CONTINUE, continues=run.pk, wish=run.wish),
            look_only=run.look_only,
            profile=run.profile,
            agent=run.agent,
            start_depth=run.start_depth,
            context_rounds=run.context_rounds,
        )


def _ask_agent(run_id: uuid.UUID, wanted: NextRound) -> None:
    """Let a new run begin with the call of an agent, as if the model had made it."""
    run = Run.objects.get(pk=run_id)
    arguments = {"agent": wanted.to, "task": wanted.text}
    asked = RequestedCall(
        position=0,
        provider_id="",
        name=ASK_AGENT,
        arguments_text=json.dumps(arguments),
    )
    reply = ModelReply(
        message_id=str(uuid.uuid4()),
        text="",
        reasoning="",
        calls=(asked,),
        finish_reason="tool_calls",
        usage=Usage(),
    )
    facts = store_reply(run.pk, StepReply(index=0, reply=reply, model=""))
    append_by_state(run.pk, facts, epoch=run.epoch)
    UsageLedger.objects.filter(run=run).delete()  # no model was asked


def chain_text(steps: int) -> str:
    """Return why a run has ended whose rounds a hook has asked for."""
    return _(
        "Stopped after %(n)d steps: code of this site asked for another round each "
        "time. Continue, or tell whoever runs this site."
    ) % {"n": steps}
