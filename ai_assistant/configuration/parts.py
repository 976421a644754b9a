"""What a site teaches its assistant, as parts of the prompt."""

import logging
from collections.abc import Iterable, Iterator

from ai_assistant import conf
from ai_assistant.configuration.setup import Setup
from ai_assistant.modules.base import ContextModule
from ai_assistant.prompts.tree import PromptPart, within
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import (
    INSTRUCTION_CHARS,
    Agent,
    Instruction,
    Placement,
    RunContext,
    Skill,
)

logger = logging.getLogger("ai_assistant")

SKILLS = """\
Procedures of this site. Before work that one of them is about, read it with \
get_skill and follow it:"""
SKILLS_OF_PAGE = "Procedures for this page, which get_skill reads as well:"


def taught_parts(
    setup: Setup, module: ContextModule, agent: Agent | None = None
) -> tuple[list[PromptPart], list[str]]:
    """
    Return the parts for the prompt, and the ids of those that no room was left for.

    Those of the agent go first. The skills that `module` names are there in full, the
    others by name.
    """
    instructions, crowded_out = within(_instructions(setup), conf.INSTRUCTIONS_CHARS)
    loaded, too_long = within(_loaded(setup, module), conf.SKILLS_LOADED_CHARS)
    here = {part.id for part in loaded}
    others = [s for s in setup.skills.values() if _part_id(s.name) not in here]
    listed, unlisted = _listed(others)
    parts = [*_of_agent(agent, setup.context), *instructions, *loaded, *listed]
    return parts, [*crowded_out, *too_long, *unlisted]


def _of_agent(agent: Agent | None, context: RunContext) -> Iterator[PromptPart]:
    text = _text_of(agent, context) if agent is not None else ""
    if agent is not None and text:
        yield PromptPart(
            id="agent",
            text=text,
            source=f"agent:{agent.name}",
            cacheable=isinstance(agent.instructions, str),
        )


def _instructions(setup: Setup) -> Iterator[PromptPart]:
    for instruction in setup.instructions:
        text = _text_of(instruction, setup.context)
        if text:
            yield PromptPart(
                id=f"instruction:{instruction.name}",
                text=text,
                source=instruction.origin,
                priority=instruction.priority,
                cacheable=_is_fixed(instruction),
            )


def _text_of(part: Instruction | Agent, context: RunContext) -> str:
    """Return the words of an instruction or an agent for a page, cut if too long."""
    text = part.instructions if isinstance(part, Agent) else part.text
    kind = "agent" if isinstance(part, Agent) else "instruction"
    if callable(text):
        made = value_or(
            "",
            lambda: str(text(context) or ""),
            f"{kind} %r failed",
            part.name,
        )
        if len(made) > INSTRUCTION_CHARS:
            said = "%s %r has %s characters, and is cut at %s"
            logger.warning(said, kind, part.name, len(made), INSTRUCTION_CHARS)
        return made[:INSTRUCTION_CHARS].strip()
    return text.strip()


def _is_fixed(part: Instruction) -> bool:
    return isinstance(part.text, str) and _is_same_in_module(part.placement)


def _is_same_in_module(placement: Placement) -> bool:
    """Return whether it applies to all pages of a module or to none, for one person."""
    return not (placement.model or placement.view or placement.available)


# --- skills ---


def _part_id(name: str) -> str:
    return f"skill:{name}"


def _loaded(setup: Setup, module: ContextModule) -> Iterator[PromptPart]:
    for name in module.skills:
        skill = setup.skills.get(name)
        if skill is not None:
            yield PromptPart(
                id=_part_id(name),
                text=f"Procedure {name!r} of this site:\n\n{skill.body}",
                source=skill.origin,
                cacheable=_is_same_in_module(skill.placement),
            )


def _listed(skills: Iterable[Skill]) -> tuple[list[PromptPart], list[str]]:
    room = conf.SKILLS_CHARS
    listed: dict[bool, list[str]] = {True: [], False: []}
    left_out = []
    for skill in skills:
        line = f"- {skill.name}: {' '.join(skill.description.split())}"
        if len(line) > room:
            left_out.append(_part_id(skill.name))
            continue
        room -= len(line)
        listed[_is_same_in_module(skill.placement)].append(line)
    parts = (
        ("skills", SKILLS, listed[True], True),
        ("skills-of-page", SKILLS_OF_PAGE, listed[False], False),
    )
    return [
        PromptPart(
            id=name,
            text="\n".join([title, *lines]),
            source="skills",
            cacheable=is_fixed,
        )
        for name, title, lines, is_fixed in parts
        if lines
    ], left_out
