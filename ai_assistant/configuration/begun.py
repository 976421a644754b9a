"""What a run began with, for another process that goes on with it."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from ai_assistant.models.run import PromptText, Step
from ai_assistant.modules.settings import NO_SETTINGS, ModuleSettings
from ai_assistant.types import JSON, Agent, Instruction, Skill

ROW = "row"  # the origin of what is made in the admin
BEGUN = "begun"  # in the prompt of a first step: the digest of these words


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """
    The words of the site that the first step of a run had, by name.

    Of a skill only what stood in the prompt. What a function makes is made anew for
    each step, and is not kept. A row that was not there is none of the run; what code
    registers may apply later, by its `available`.
    """

    instructions: Mapping[str, str]
    skills: Mapping[str, Mapping[str, str]]
    agent: str = ""  # its instructions
    # What a row says of the run's module; empty: there is no such row.
    module: ModuleSettings = NO_SETTINGS

    @classmethod
    def of(
        cls,
        instructions: Iterable[Instruction],
        skills: Iterable[Skill],
        agent: Agent | None,
        module: ModuleSettings,
        *,
        told: Collection[str],
        left_out: Collection[str],
    ) -> "Begun":
        """Return those of a prompt: `told` and `left_out` are ids of its parts."""
        own = agent.instructions if agent is not None else ""
        return cls(
            instructions={
                one.name: one.text
                for one in instructions
                if isinstance(one.text, str) and f"instruction:{one.name}" in told
            },
            skills={one.name: _said(one, told, left_out) for one in skills},
            agent=own if isinstance(own, str) else "",
            module=module,
        )

    def values(self) -> dict[str, JSON]:
        """Return it as JSON; nothing if the site has taught nothing."""
        kept = {
            "instructions": dict(self.instructions),
            "skills": {name: dict(said) for name, said in self.skills.items()},
            "agent": self.agent,
            "module": self.module.values(),
        }
        return {name: value for name, value in kept.items() if value}

    def instructions_of(self, now: Iterable[Instruction]) -> Iterator[Instruction]:
        """Yield what there still is of the instructions, with the words of then."""
        for one in now:
            if isinstance(one.text, str) and one.name in self.instructions:
                yield replace(one, text=self.instructions[one.name])
            elif one.origin != ROW or not isinstance(one.text, str):
                yield one

    def skills_of(self, now: Iterable[Skill]) -> Iterator[Skill]:
        """Yield what there still is of the skills; what was not told is as it is now."""
        for one in now:
            said = self.skills.get(one.name)
            if said is not None:
                description = said.get("description", one.description)
                body = said.get("body", one.body)
                yield replace(one, description=description, body=body)
            elif one.origin != ROW:
                yield one

    def modules_of(self, now: Iterable[ModuleSettings]) -> Iterator[ModuleSettings]:
        """Yield what there still is; of the run's module, what was said of it then."""
        for one in now:
            yield self.module if one.is_active and one.id == self.module.id else one

    def agent_of(self, now: Agent) -> Agent:
        """Return the agent with the words of then."""
        return replace(now, instructions=self.agent) if self.agent else now


def read_begun(run_id: UUID) -> Begun | None:
    """Return what a run began with; None if it has no first step. Asks the database."""
    first = Step.objects.filter(run_id=run_id, index=0)
    found = first.values_list("prompt", "run__conversation_id").first()
    if found is None or BEGUN not in found[0]:
        return None
    digest, values = found[0][BEGUN], {}
    if digest:
        texts = PromptText.objects.filter(conversation_id=found[1], digest=digest)
        text = texts.values_list("text", flat=True).first()
        if text is None:
            return None
        values = json.loads(text)
    none: dict[str, Any] = {"instructions": {}, "skills": {}, "agent": ""}
    module = ModuleSettings.of(values.pop("module", {}))
    return Begun(**{**none, **values}, module=module)


def _said(
    skill: Skill, told: Collection[str], left_out: Collection[str]
) -> Mapping[str, str]:
    part = f"skill:{skill.name}"
    if part in told:
        return {"body": skill.body}
    return {} if part in left_out else {"description": str(skill.description)}
