"""The loop's way to the model: request, provider, patience."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from ai_assistant import conf
from ai_assistant.engine.db import in_db
from ai_assistant.engine.history import chat_messages
from ai_assistant.engine.offer import Offer, told_tools, tool_schemas, tools_of
from ai_assistant.engine.scope import RunScope, module_prompt
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.models.run import Run
from ai_assistant.prompts.system import system_prompt
from ai_assistant.providers.base import provider_for
from ai_assistant.providers.retry import with_retries
from ai_assistant.providers.timeouts import with_timeouts
from ai_assistant.safety.permissions import fresh_user
from ai_assistant.tools.version import versions
from ai_assistant.types import ModelChunk, ModelRequest, Provider


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

    async def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        """Yield the chunks of one reply. Raise ModelError if there is none."""
        provider = provider_for(self.profile)
        ready = getattr(provider, "ready", None)
        if ready is not None:
            # Loading a library is not the model's silence: it has no time limit.
            await ready()
        prepared, self._prepared = self._prepared, None
        request: ModelRequest = (
            await in_db(self._request) if prepared is None else prepared
        )
        retried = with_retries(
            lambda: self._patient(provider, request),
            retries=int(conf.get("MODEL_RETRIES")),
            delay_s=float(conf.get("MODEL_RETRY_DELAY_S")),
            max_delay_s=float(conf.get("MODEL_RETRY_MAX_DELAY_S")),
        )
        async with aclosing(retried) as chunks:
            async for chunk in chunks:
                yield chunk

    def _patient(
        self, provider: Provider, request: ModelRequest
    ) -> AsyncGenerator[ModelChunk, None]:
        return with_timeouts(
            provider.stream(request),
            first_byte_s=float(conf.get("FIRST_BYTE_TIMEOUT_S")),
            idle_s=float(conf.get("IDLE_TIMEOUT_S")),
            total_s=float(conf.get("TOTAL_TIMEOUT_S")),
        )

    def prepare(self, user: Any) -> None:  # noqa: ANN401 - the site's user model
        """Make the next request now, in a thread that reads the rows anyway."""
        self._prepared = self._request(user)

    def _request(self, user: Any = None) -> ModelRequest:  # noqa: ANN401
        user = user or fresh_user(self.run.user_id)
        if user is None:
            raise ModelError("not_configured", "the user is gone")
        scope = RunScope(self.run, user)
        open_tools = tools_of(scope)
        tools = told_tools(scope, open_tools)
        self.offer = Offer(
            names=frozenset(tool.name for tool in open_tools),
            versions=versions(tools),
            read_only=scope.is_read_only,
        )
        prompt = system_prompt(
            self.run,
            user,
            tools=tools,
            module=module_prompt(scope),
            items=scope.items,
            read_only=scope.is_read_only,
        )
        return ModelRequest(
            model=self.name,
            messages=[
                {"role": "system", "content": prompt},
                *chat_messages(self.run),
            ],
            tools=tool_schemas(tools),
            api_base=str(self.profile.get("API_BASE") or ""),
            api_key=str(self.profile.get("API_KEY") or ""),
            options=self.profile.get("OPTIONS", {}),
        )
