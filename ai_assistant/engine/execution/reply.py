"""Ask the model, on behalf of one run."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from ai_assistant import conf
from ai_assistant.engine.accounting.meter import room_for_history
from ai_assistant.engine.accounting.prompts import ShownPrompt, shown
from ai_assistant.engine.accounting.summaries import sums_up
from ai_assistant.engine.accounting.usage import Spending
from ai_assistant.engine.calls.availability import Offer, tool_schemas
from ai_assistant.engine.execution.prompt import Composed, compose, prompt_of_hooks
from ai_assistant.engine.execution.summing import sum_up_before
from ai_assistant.engine.lifecycle.hooks import RunHooks, in_db_asking
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.engine.storage.branches import has_changed_rows, seen_by
from ai_assistant.engine.storage.history import read_history
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import (
    ImproperlyConfiguredAssistant,
    ModelError,
    Refused,
)
from ai_assistant.hooks.outcomes import Outcome
from ai_assistant.hooks.points import ModelCall, PromptDraft, StatusChanged
from ai_assistant.hooks.running import Asks
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run, RunState
from ai_assistant.prompts.tree import Prompt
from ai_assistant.providers.base import (
    provider_for,
    timeouts_of,
    with_masked_secrets,
)
from ai_assistant.providers.errors import FINAL
from ai_assistant.providers.prices import priced
from ai_assistant.providers.reasoning import reasoning_options
from ai_assistant.providers.retry import with_retries, with_timeouts
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.text.redaction.redact import redact_json, redact_values_json
from ai_assistant.tools.manifest import tool_versions
from ai_assistant.tools.result import HOOK
from ai_assistant.types import ModelChunk, ModelRequest, Provider, ReplyEnd

logger = logging.getLogger("ai_assistant")

# Errors before the first word, after which the provider may still want money.
MAX_RETRY_DELAY_S = 20.0  # a longer wait ends the run instead
MAY_HAVE_USED = ("first_byte_timeout", "total_timeout", "cut", "empty", "malformed")


class ProfileModel:
    """A model profile of the site, asked on behalf of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.offer: Offer | None = None  # of the last request
        self.prompt = ShownPrompt()  # of the last request
        self.hooks = RunHooks(run)
        self.writer: RunWriter | None = None  # of the stretch, once it has begun
        self.has_begun = False  # hooks know it
        self._may_sum_up = False  # before the next request
        self.fallback_code = run.fallback_code  # why it is not the run's own profile
        self._prepared: ModelRequest | None = None
        self._request_made: ModelRequest | None = None  # of the step under way
        self.spending = Spending(run, {})
        self._reasoning: str | int = ""  # of the agent
        self._failed: set[str] = set()  # profiles that could not answer
        self._use(run.fallback or run.profile)

    def _use(self, profile_name: str) -> None:
        """Ask the model of a profile from now on. Raise ModelError not_configured."""
        try:
            self.profile = conf.profile(profile_name)
        except ImproperlyConfiguredAssistant as error:
            raise ModelError("not_configured", str(error)) from error
        self.profile_name = profile_name
        self.name = str(self.profile.get("MODEL", ""))
        self.spending.profile = self.profile

    async def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        """
        Yield the chunks of one reply.

        If a model cannot begin to answer, that of its profile's FALLBACK is asked. Raise
        ModelError if none answers, Limited if no budget has room for it.
        """
        spoke, self._request_made = False, None  # that of an earlier step
        while True:
            try:
                async with aclosing(self._stream_of_profile(step_index)) as chunks:
                    async for chunk in chunks:
                        spoke = True
                        yield chunk
            except ModelError as error:
                if spoke or not self._fall_back(error):
                    raise
            else:
                return

    def _fall_back(self, error: ModelError) -> bool:
        """Use the profile's FALLBACK for the rest of the run, if it has one."""
        self._failed.add(self.profile_name)
        other = str(self.profile.get("FALLBACK") or "")
        is_one = other in conf.profiles() and other not in self._failed
        if error.code in FINAL or not is_one:
            return False
        logger.warning("profile %r: %s; %r answers", self.profile_name, error, other)
        request = self._prepared or self._request_made
        self._use(other)
        self.fallback_code = self.fallback_code or error.code
        if request is not None:
            # Hooks have seen it; they are not asked again.
            self._prepared = replace(request, **self._addressed())
        return True

    def _addressed(self) -> dict[str, Any]:
        """Return where the requests of the profile go, and with which options."""
        return {
            "model": self.name,
            "api_base": str(self.profile.get("API_BASE") or ""),
            "api_key": str(self.profile.get("API_KEY") or ""),
            "options": reasoning_options(self.profile, self._reasoning),
        }

    async def _stream_of_profile(
        self, step_index: int
    ) -> AsyncGenerator[ModelChunk, None]:
        provider = provider_for(self.profile)
        # Loading a library is not the model's silence: it has no time limit.
        await provider.ready()
        self._may_sum_up = self.writer is not None
        request = self._prepared
        if request is None or self.spending.has_budgets:
            request = await self._next(step_index, provider)
        self._prepared, self._request_made = None, request
        retried = with_retries(
            lambda: self._patient(provider, request),
            # A person waits: another model that can answer is asked at once.
            retries=0
            if self._has_fallback
            else int(conf.get("LIMITS", "MODEL_RETRIES")),
            delay_s=conf.MODEL_RETRY_S,
            max_delay_s=MAX_RETRY_DELAY_S,
        )
        spoke = False
        try:
            async with aclosing(with_masked_secrets(retried)) as chunks:
                async for chunk in chunks:
                    spoke = True
                    yield self._priced(chunk)
        except ModelError as error:
            if not spoke and error.code not in MAY_HAVE_USED:
                await self._release()
            raise

    @property
    def _has_fallback(self) -> bool:
        other = self.profile.get("FALLBACK")
        return other in conf.profiles() and other not in self._failed

    async def _next(self, step_index: int, provider: Provider) -> ModelRequest:
        """Return the next request, after a summary if there is too much for it."""
        request = await in_db_asking(self._reserved(step_index, provider))
        if request is None and self.writer is not None:
            await sum_up_before(self.run, step_index, self.writer)
            self._may_sum_up = False
            request = await in_db_asking(self._reserved(step_index, provider))
        if request is None:
            raise ModelError("not_configured", "nothing is left to be asked")
        return request

    def _patient(
        self, provider: Provider, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk, None]:
        return with_timeouts(provider.stream(request), **timeouts_of(self.profile))

    def prepare(self, user: Any, said: list[Message] | None = None) -> Asks[None]:
        """
        Make the next request now, in a thread that has just read the run's row.

        `said` holds the messages of the conversation, where they are known as well.
        Hooks are told that the run has begun.
        """
        running = StatusChanged(state=RunState.RUNNING)
        self.hooks.ask_along(self.hooks.at("status_changed"), running)
        self.has_begun = self._may_sum_up = True
        self._prepared = yield from self._request(user, said)

    def _priced(self, chunk: ModelChunk) -> ModelChunk:
        return priced(self.profile, chunk) if isinstance(chunk, ReplyEnd) else chunk

    async def _release(self) -> None:
        if self.spending.has_budgets:
            await in_db(self.spending.release)

    def _reserved(
        self, step_index: int, provider: Provider
    ) -> Asks[ModelRequest | None]:
        """Return the next request, with what it may take reserved."""
        request = self._prepared or (yield from self._request(step=step_index))
        if request is not None and self.spending.has_budgets:
            self.spending.reserve(step_index, request, provider)
        return request

    def _request(
        self, user: Any = None, said: list[Message] | None = None, step: int = 0
    ) -> Asks[ModelRequest | None]:
        """Return the next request; None if there is too much to be told for it."""
        is_fresh = user is not None
        user = user or fresh_user(self.run.user_id)
        if user is None:
            raise ModelError("not_configured", "the user no longer exists")
        scope = RunScope(self.run, user, is_fresh=is_fresh)
        self.spending.look_up(user, scope.chosen)
        if self.run.agent and scope.agent is None:
            raise ModelError("no_agent", f"agent {self.run.agent!r}")
        self._reasoning = scope.agent.reasoning if scope.agent else ""
        path, elsewhere = seen_by(self.run)
        room = partial(room_for_history, self.profile)
        history = read_history(self.run, path, said, room)
        if history.wants_summary and self._may_sum_up and sums_up(self.profile):
            return None
        self.hooks.scope = scope
        composed = compose(scope, changed_elsewhere=has_changed_rows(elsewhere))
        self.offer = Offer(
            names=frozenset(tool.name for tool in composed.open_tools),
            versions=tool_versions(composed.tools),
            read_only=scope.read_only,
            agent=scope.agent,
        )
        request = ModelRequest(
            **self._addressed(),
            # Results are redacted as they are stored; what people say stays.
            messages=redact_values_json(history.entries),
            tools=tool_schemas(composed.tools),
        )
        return (yield from self._hooked(request, composed, step))

    def _hooked(
        self, request: ModelRequest, composed: Composed, step: int
    ) -> Asks[ModelRequest]:
        """
        Return the whole request: hooks of the site change its prompt, then all of it.

        They can only leave tools out. A model may call a tool that it was not told of,
        so they see those, too. Raise Refused if one refuses it.
        """
        hooks, told = self.hooks, [tool["function"]["name"] for tool in request.tools]
        callable_names = self.offer.names if self.offer is not None else ()
        names = tuple(dict.fromkeys([*told, *sorted(callable_names)]))

        def prompted(draft: PromptDraft) -> ModelCall:
            prompt = draft.tree.flatten(composed.left_out)
            begun = composed.begun if step == 0 else None
            self.prompt = shown(prompt, request.tools, begun)
            system = {"role": "system", "content": self.prompt.text}
            messages = [system, *request.messages]
            return ModelCall(messages=messages, tools=names, model=self.name, step=step)

        draft = PromptDraft(tree=composed.tree, step=step)
        drafted, outcome = yield from hooks.asks_each(
            [
                (hooks.at("process_prompt"), hooks.asking(draft)),
                (hooks.at("before_model_request"), hooks.asking_what(prompted)),
            ]
        )
        if outcome.refused:
            raise Refused(HOOK, outcome.refused)
        call = outcome.value or prompted(drafted.value)
        whole = replace(request, messages=list(call.messages))
        if outcome.changed_by:
            prompt = drafted.value.tree.flatten(composed.left_out)
            whole = self._changed(whole, prompt, outcome)
        return replace(whole, stable_chars=self.prompt.stable_chars)

    def _changed(
        self, request: ModelRequest, prompt: Prompt, outcome: Outcome[ModelCall]
    ) -> ModelRequest:
        """Return a request that hooks have changed: redacted, without tools left out."""
        call, names = outcome.value, frozenset(outcome.value.tools)
        tools = [tool for tool in request.tools if tool["function"]["name"] in names]
        if self.offer is not None:
            self.offer = replace(self.offer, names=self.offer.names & names)
        messages = redact_values_json(request.messages)
        if messages[0] != {"role": "system", "content": self.prompt.text}:
            messages[0] = redact_json(messages[0])
            prompt = prompt_of_hooks(messages[0], outcome.changed_by)
        has_data = self.prompt.has_data or call.label == "data"
        begun = self.prompt.begun
        self.prompt = replace(shown(prompt, tools), has_data=has_data, begun=begun)
        return replace(request, messages=messages, tools=tools)
