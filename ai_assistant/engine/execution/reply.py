"""Ask the model, on behalf of one run."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from ai_assistant import conf
from ai_assistant.engine.accounting.usage import Spending
from ai_assistant.engine.calls.availability import (
    Offer,
    told_tools,
    tool_schemas,
    tools_of,
)
from ai_assistant.engine.lifecycle.scope import RunScope, module_prompt
from ai_assistant.engine.storage.branches import has_changed_rows, seen_by
from ai_assistant.engine.storage.history import chat_messages
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.prompts.system import system_prompt, wish_text
from ai_assistant.providers.base import provider_for, with_masked_secrets
from ai_assistant.providers.prices import priced
from ai_assistant.providers.retry import with_retries, with_timeouts
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.text.redaction.redact import redact, redact_values_json
from ai_assistant.tools.manifest import tool_versions
from ai_assistant.types import ModelChunk, ModelRequest, Provider, ReplyEnd

# Errors before the first word, after which the provider may still want money.
MAX_RETRY_DELAY_S = 20.0  # a longer wait ends the run instead
MAY_HAVE_USED = ("first_byte_timeout", "total_timeout", "cut", "empty", "malformed")


class ProfileModel:
    """A model profile of the site, asked on behalf of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.offer: Offer | None = None  # of the last request
        self._prepared: ModelRequest | None = None
        try:
            self.profile = conf.profile(run.profile)
        except ImproperlyConfiguredAssistant as error:
            raise ModelError("not_configured", str(error)) from error
        self.name = str(self.profile.get("MODEL", ""))
        self.spending = Spending(run, self.profile, self.name)

    async def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        """
        Yield the chunks of one reply.

        Raise ModelError if the model gives none, Limited if no budget has room for it.
        """
        provider = provider_for(self.profile)
        # Loading a library is not the model's silence: it has no time limit.
        await provider.ready()
        request = self._prepared
        if request is None or self.spending.has_budgets:
            request = await in_db(self._reserved, step_index, provider)
        self._prepared = None
        retried = with_retries(
            lambda: self._patient(provider, request),
            retries=int(conf.get("LIMITS", "MODEL_RETRIES")),
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

    def _patient(
        self, provider: Provider, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk, None]:
        return with_timeouts(
            provider.stream(request),
            first_byte_s=float(conf.get("TIMEOUTS", "FIRST_BYTE_S")),
            idle_s=float(conf.get("TIMEOUTS", "IDLE_S")),
            total_s=float(conf.get("TIMEOUTS", "MODEL_CALL_S")),
        )

    def prepare(self, user: Any, said: list[Message] | None = None) -> None:
        """
        Make the next request now, in a thread that has just read the run's row.

        `said` holds the messages of the conversation, where they are known as well.
        """
        self._prepared = self._request(user, said)

    def _priced(self, chunk: ModelChunk) -> ModelChunk:
        return priced(self.profile, chunk) if isinstance(chunk, ReplyEnd) else chunk

    async def _release(self) -> None:
        if self.spending.has_budgets:
            await in_db(self.spending.release)

    def _reserved(self, step_index: int, provider: Provider) -> ModelRequest:
        """Return the next request, with what it may take reserved."""
        request = self._prepared or self._request()
        if self.spending.has_budgets:
            self.spending.reserve(step_index, request, provider)
        return request

    def _request(
        self, user: Any = None, said: list[Message] | None = None
    ) -> ModelRequest:
        is_fresh = user is not None
        user = user or fresh_user(self.run.user_id)
        if user is None:
            raise ModelError("not_configured", "the user no longer exists")
        self.spending.look_up(user)
        scope = RunScope(self.run, user, is_fresh=is_fresh)
        open_tools = tools_of(scope)
        tools = told_tools(scope, open_tools)
        self.offer = Offer(
            names=frozenset(tool.name for tool in open_tools),
            versions=tool_versions(tools),
            read_only=scope.read_only,
        )
        most = int(conf.get("LIMITS", "HISTORY_MESSAGES"))
        path, elsewhere = seen_by(self.run, most)
        prompt = system_prompt(
            self.run,
            user,
            tools=tools,
            module=module_prompt(scope),
            items=scope.items,
            read_only=scope.read_only.refusal if scope.read_only else "",
        )
        wish = wish_text(self.run.wish, changed_elsewhere=has_changed_rows(elsewhere))
        return ModelRequest(
            model=self.name,
            messages=[
                {"role": "system", "content": redact(f"{prompt}\n\n{wish}".strip())},
                # Results are redacted as they are stored; what people say stays.
                *redact_values_json(chat_messages(self.run, path, said)),
            ],
            tools=tool_schemas(tools),
            api_base=str(self.profile.get("API_BASE") or ""),
            api_key=str(self.profile.get("API_KEY") or ""),
            options=self.profile.get("OPTIONS", {}),
        )
