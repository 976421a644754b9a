"""The scope of a run: the page it began on, its module, what it sees."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from ai_assistant.configuration.setup import Setup, agent_of_run, setup_of_run
from ai_assistant.context.collect import (
    KeptChips,
    collect_items,
    from_browser,
    sent_items,
)
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.viewparts import ViewParts, registered_parts
from ai_assistant.engine.interrupts.browser import FromPage, find_request
from ai_assistant.engine.lifecycle.mentions import mentioned_items
from ai_assistant.engine.storage.rounds import rounds_on_page, still_told
from ai_assistant.models.run import Run
from ai_assistant.modules.base import PROMPT_CHARS, ContextModule
from ai_assistant.modules.read_only import ReadOnly, look_only, read_only
from ai_assistant.modules.resolve import DEFAULT, NO_RUN, is_page_open, module_by_id
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.sites import user_on_site
from ai_assistant.tools.data.reading.pointing import pointed_items
from ai_assistant.tools.page.fill_form import FILL_FORM
from ai_assistant.tools.page.navigate import NAVIGATE_TO, navigation_result
from ai_assistant.tools.page.page_action import PAGE_ACTION, page_action_result
from ai_assistant.tools.page.page_state import GET_PAGE_STATE, page_state
from ai_assistant.types import (
    JSON,
    WRITING,
    Agent,
    ContextItem,
    PageInfo,
    RunContext,
    ToolDefinition,
)

logger = logging.getLogger("ai_assistant")

# What the server makes of the report of a page, by tool.
RESULTS: dict[str, Callable[[RunContext, str, JSON], dict[str, JSON]]] = {
    NAVIGATE_TO: navigation_result,
    GET_PAGE_STATE: page_state,
    PAGE_ACTION: page_action_result,
}
# What is not done where nothing may be changed, although it writes nothing.
BOUND = frozenset({FILL_FORM, PAGE_ACTION})

MODELS_HERE = "On this page the tools for rows work with these models only: %s."


@dataclass(frozen=True)
class RunScope:
    """One run's surroundings, for `user`. May ask the database."""

    run: Run
    user: Any
    said: dict[Any, bool] = field(default_factory=dict, compare=False)  # is_enabled
    is_fresh: bool = field(default=False, compare=False)  # `run` was read just now

    @cached_property
    def context(self) -> RunContext:
        """The RunContext for prompts, modules and `is_enabled`."""
        run = self.run
        return RunContext(
            user=self._user_on_site,
            run_id=run.pk,
            conversation_id=run.conversation_id,
            page=self._page.info
            if self._page
            else PageInfo(path=run.page_path, title=run.page_title),
            module=self.module.id,
            agent=run.agent,
        )

    @cached_property
    def agent(self) -> Agent | None:
        """The run's agent; None for none, or if the user may not use it."""
        return agent_of_run(self.run.pk, self.run.agent, self.user)

    @cached_property
    def _user_on_site(self) -> Any:
        return user_on_site(self.user, self.run.pk)

    @cached_property
    def is_page_open(self) -> bool:
        """Whether the user gets what is kept for the page; the browser names it."""
        return is_page_open(self._page, self.chosen, self._user_on_site)

    @cached_property
    def module(self) -> ContextModule:
        """The run's module, as it was chosen at its start, if its page is open."""
        is_for_agent = self.agent is None or self.agent.works_in(self.chosen.id)
        return self.chosen if is_for_agent and self.is_page_open else DEFAULT

    @cached_property
    def chosen(self) -> ContextModule:
        """The run's module, whatever of it is for the agent and the page as it is now."""
        run = self.run
        # A run under way keeps what the rows said; what has ended is as they are now.
        is_kept = run.pk != NO_RUN and not run.is_final
        return module_by_id(run.module, self.user, run.pk if is_kept else None)

    @cached_property
    def _page(self) -> SitePage | None:
        return find_page(self.run.page_path, self.run.page_title)

    @cached_property
    def view_parts(self) -> ViewParts:
        """The parts that the view of the page registers itself."""
        if self._page is None or not self.is_page_open:
            return ViewParts()
        return registered_parts(self._page.view, self._page.model_admin)

    @cached_property
    def loaded_tools(self) -> list[str]:
        """The names of tools that the run has got by now, in any process."""
        if self.is_fresh:
            return list(self.run.loaded_tools)
        named = Run.objects.filter(pk=self.run.pk)
        return named.values_list("loaded_tools", flat=True).first() or []

    @cached_property
    def setup(self) -> Setup:
        """The instructions, skills and commands of the site that apply."""
        return setup_of_run(self.context)

    @cached_property
    def items(self) -> list[ContextItem]:
        """The context items of the page for the model."""
        kept = kept_of(self.run.context)
        found = sent_items(collect_items(self.context, kept.browser).items, kept)
        sent = still_told(found, partial(rounds_on_page, self.run))
        if not kept.mentioned:
            return sent
        return [
            *sent,
            *pointed_items(self.context, kept.mentioned),
            *mentioned_items(kept.mentioned, self.user, self.setup),
        ]

    @cached_property
    def read_only(self) -> ReadOnly | None:
        """Why nothing may be changed on this page, or None."""
        if self.run.look_only:
            return look_only()
        # The module is asked also of a page that is closed: the safe side.
        return read_only(self.chosen, self.context)

    @property
    def is_read_only(self) -> bool:
        """Whether nothing may be changed on this page."""
        return self.read_only is not None

    def locks(self, tool: ToolDefinition) -> ReadOnly | None:
        """Return what `tool` may not change; None if it does not write at all."""
        is_bound = tool.effect in WRITING or tool.name in BOUND
        return self.read_only if is_bound else None


def scope_of_page(context: RunContext) -> RunScope:
    """Return the scope that a run of the user on this page would have."""
    run = Run(
        id=NO_RUN,
        conversation_id=context.conversation_id,
        user_id=context.user.pk,
        page_path=context.page_path,
        page_title=context.page.title,
        module=context.module,
    )
    return RunScope(run, context.user)


def module_prompt(scope: RunScope) -> str:
    """Return the module's prompt, with what its row adds; without what fails."""
    prompt = value_or(
        "",
        lambda: str(scope.module.get_prompt(scope.context)),
        "the prompt of module %r failed",
        scope.module.id,
    )
    if len(prompt) > PROMPT_CHARS:
        said = "the prompt of module %r has %s characters, and is cut at %s"
        logger.warning(said, scope.module.id, len(prompt), PROMPT_CHARS)
    row = scope.module.configured
    models = MODELS_HERE % ", ".join(row.models) if row.models else ""
    texts = (prompt[:PROMPT_CHARS], row.text, models)
    return "\n\n".join(text.strip() for text in texts if text.strip())


def kept_of(stored: Mapping[str, Any]) -> KeptChips:
    """Return what a person kept, from the form in which a run stores it."""
    return KeptChips(
        dropped=frozenset(stored.get("dropped", ())),
        mentioned=frozenset(stored.get("mentioned", ())),
        browser=tuple(map(from_browser, stored.get("browser", ()))),
    )


def with_page(said: FromPage) -> FromPage:
    """Return the report of a page with what the server adds, or leaves out. Blocks."""
    interrupt = find_request(said)
    result = RESULTS.get(interrupt.call.name)
    if result is None or said.code:
        return said
    context = RunScope(interrupt.run, fresh_user(said.user_id)).context
    return replace(said, value=result(context, said.path, said.value))
