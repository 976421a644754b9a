"""What a site teaches its assistant, as it holds for a person on a page."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar
from uuid import UUID

from ai_assistant.configuration.begun import ROW, Begun, read_begun
from ai_assistant.configuration.modules import current_settings
from ai_assistant.configuration.placement import applies, is_of_user
from ai_assistant.configuration.rows import placement_of, rows_of
from ai_assistant.models import configuration as models
from ai_assistant.modules.settings import ModuleSettings
from ai_assistant.modules.site import read_rows_by
from ai_assistant.registry import registry
from ai_assistant.types import Agent, Instruction, PromptCommand, RunContext, Skill

Part = TypeVar("Part", Instruction, Skill, PromptCommand, Agent)
RUNS = 200  # of which a process keeps what they began with


class Taught:
    """
    All that code registers and rows make of it; each list is read once, and stays.

    With `run_id` it has the words with which that run began, in another process.
    """

    def __init__(self, run_id: UUID | None = None) -> None:
        self._run_id = run_id

    @cached_property
    def _begun(self) -> Begun | None:
        return read_begun(self._run_id) if self._run_id is not None else None

    @cached_property
    def instructions(self) -> list[Instruction]:
        """The instructions of all pages."""
        now = registered_instructions()
        return list(self._begun.instructions_of(now)) if self._begun else now

    @cached_property
    def skills(self) -> list[Skill]:
        """The skills of all pages."""
        now = registered_skills()
        return list(self._begun.skills_of(now)) if self._begun else now

    @cached_property
    def commands(self) -> list[PromptCommand]:
        """The commands of all pages and persons."""
        return registered_commands()

    @cached_property
    def agents(self) -> dict[str, Agent]:
        """The agents of all pages and persons, by name."""
        return {agent.name: agent for agent in registered_agents()}

    @cached_property
    def module_settings(self) -> tuple[ModuleSettings, ...]:
        """What rows say of the modules."""
        now = current_settings()
        return tuple(self._begun.modules_of(now)) if now and self._begun else now

    def with_words(self, agent: Agent) -> Agent:
        """Return the agent of the run, with the words of its beginning."""
        return self._begun.agent_of(agent) if self._begun else agent


@dataclass(frozen=True)
class Setup:
    """
    The instructions, skills and commands for the user and page of `context`.

    Each list is made when it is first asked for, and stays.
    """

    context: RunContext
    taught: Taught = field(default_factory=Taught)

    @cached_property
    def instructions(self) -> list[Instruction]:
        """The instructions that apply, the most important first."""
        return self._applying(self.taught.instructions)

    @cached_property
    def skills(self) -> dict[str, Skill]:
        """The skills that apply, by name."""
        return {part.name: part for part in self._applying(self.taught.skills)}

    @cached_property
    def commands(self) -> dict[str, PromptCommand]:
        """The commands that apply, by name: one's own go before those of the site."""
        own = self.context.user.pk
        parts = [part for part in self.taught.commands if part.owner_id in (None, own)]
        parts.sort(key=lambda part: part.owner_id is not None)  # stable
        return {part.name: part for part in self._applying(parts)}

    @cached_property
    def agents(self) -> dict[str, Agent]:
        """The agents that are offered, by name."""
        return {part.name: part for part in self._applying(self.taught.agents.values())}

    def _applying(self, parts: Iterable[Part]) -> list[Part]:
        found = [
            part for part in parts if applies(part.placement, self.context, part.name)
        ]
        return sorted(found, key=lambda part: -part.priority)  # stable


def resolve(context: RunContext) -> Setup:
    """Return what holds for a user on a page; at most one query a message."""
    return Setup(context)


def setup_of_run(context: RunContext) -> Setup:
    """
    Return what holds for a run: what the site teaches is as it was at its first step.

    Another process that goes on with it reads the words of that step; what is not
    there any more is left out. Who may have it, and where, is looked at each time. A
    page alone, without a run, has what holds now.
    """
    return Setup(context, _taught_of(context.run_id))


def agent_of_run(run_id: UUID, name: str, user: Any = None) -> Agent | None:
    """
    Return the agent of a run as it was at the run's first step; None if it has none.

    None also if `user` is given and may not use it.
    """
    taught = _taught_of(run_id) if name else None
    agent = taught.agents.get(name) if taught is not None else None
    if agent is None or (user is not None and not is_of_user(agent.placement, user)):
        return None
    return taught.with_words(agent) if taught is not None else None


def module_settings(run_id: UUID | None = None) -> tuple[ModuleSettings, ...]:
    """Return what rows say of the modules: now, or as of the beginning of a run."""
    return current_settings() if run_id is None else _taught_of(run_id).module_settings


def begin(run_id: UUID) -> None:
    """Let what the site teaches now hold for a run that begins in this process."""
    with _lock:
        _of_runs[run_id] = Taught()


def _taught_of(run_id: UUID) -> Taught:
    if not run_id.int:
        return Taught()
    with _lock:
        taught = _of_runs.pop(run_id, None) or Taught(run_id)
        _of_runs[run_id] = taught  # the newest one
        while len(_of_runs) > RUNS:
            del _of_runs[next(iter(_of_runs))]
    return taught


_of_runs: dict[UUID, Taught] = {}
_lock = Lock()
read_rows_by(module_settings)


def of_user(parts: Iterable[Part], user: Any) -> list[Part]:
    """Return those that are for a user, on one page or another, by their names."""
    own = (None, user.pk)
    found = [
        part
        for part in parts
        if getattr(part, "owner_id", None) in own and is_of_user(part.placement, user)
    ]
    return sorted(found, key=lambda part: part.name)


def agent_named(name: str) -> Agent | None:
    """Return an agent as it is now; None if there is none of that name."""
    return next((agent for agent in registered_agents() if agent.name == name), None)


def has_agents() -> bool:
    """Return whether the site has any agent."""
    return bool(registry.parts("agent") or list(rows_of(models.Agent)))


# --- what is registered, and what rows make of it ---


def registered_instructions() -> list[Instruction]:
    """Return all instructions, those of rows included."""
    return _merged("instruction", models.Instruction, _instruction)


def registered_skills() -> list[Skill]:
    """Return all skills, those of rows included."""
    return _merged("skill", models.Skill, _skill)


def registered_commands() -> list[PromptCommand]:
    """Return all prompt commands, those of rows and of all persons included."""
    return _merged("command", models.PromptCommand, command_of_row)


def registered_agents() -> list[Agent]:
    """Return all agents, those of rows included."""
    return _merged("agent", models.Agent, _agent)


TAUGHT: dict[str, Callable[[], list[Any]]] = {
    "commands": registered_commands,
    "skills": registered_skills,
    "instructions": registered_instructions,
    "agents": registered_agents,
}


_parts: dict[str, tuple[Iterable[Any], dict[str, Any], list[Any]]] = {}


def _merged(
    kind: str,
    model: type[models.ConfigurationRow],
    made: Callable[[Any, Any], Part],
) -> list[Part]:
    """Return what code registers, with the site's rows of the same name in its place."""
    registered, rows = registry.parts(kind), rows_of(model)
    kept = _parts.get(kind)
    # The rows are the same object until they change.
    if kept is None or kept[0] is not rows or kept[1] != registered:
        parts = list(_made(registered, rows, made))
        kept = _parts[kind] = (rows, registered, parts)
    return list(kept[2])


def _made(
    registered: dict[str, Any], rows: Iterable[Any], made: Callable[[Any, Any], Part]
) -> Iterator[Part]:
    taken = {row.name for row in rows if getattr(row, "owner_id", None) is None}
    yield from (part for name, part in registered.items() if name not in taken)
    for row in rows:
        if row.is_active:
            yield made(row, registered.get(row.name))


def _of_row(row: models.ConfigurationRow) -> dict[str, Any]:
    """Return what a row of each kind says."""
    said = {"name": row.name, "priority": row.priority, "origin": ROW}
    return {**said, "placement": placement_of(row)}


def _instruction(row: models.Instruction, _registered: Any) -> Instruction:
    return Instruction(text=row.text, **_of_row(row))


def _skill(row: models.Skill, registered: Skill | None) -> Skill:
    """Return the skill of a row; the files of the one that it replaces stay."""
    made = Skill(
        **_of_row(row),
        description=row.description,
        body=row.body,
        allowed_tools=tuple(row.allowed_tools.split()),
    )
    if registered is None:
        return made
    return replace(made, files=registered.files, scripts=registered.scripts)


def command_of_row(row: models.PromptCommand, _registered: Any = None) -> PromptCommand:
    """Return the command of a row, stored or not."""
    return PromptCommand(
        **_of_row(row),
        text=row.text,
        description=row.description,
        schema=row.arguments,
        owner_id=row.owner_id,
    )


def _agent(row: models.Agent, registered: Agent | None) -> Agent:
    """Return the agent of a row; it keeps the loop of the one that it replaces."""
    return Agent(
        **_of_row(row),
        label=row.label,
        description=row.description,
        instructions=row.text,
        profile=row.profile,
        reasoning=row.reasoning,
        modules=tuple(row.modules.split()),
        tools=tuple(row.tools.split()),
        steps=row.steps or 0,
        run_s=row.run_s or 0.0,
        loop=row.loop or (registered.loop if registered else ""),
    )
