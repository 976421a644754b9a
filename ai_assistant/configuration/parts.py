"""What a site teaches its assistant, as parts of the prompt."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from ai_assistant import conf
from ai_assistant.configuration.setup import Setup
from ai_assistant.modules.base import ContextModule
from ai_assistant.prompts.tree import PromptPart, within
from ai_assistant.safety.bulkhead import (
    Bulkhead,
    BulkheadFull,
    CodeTimedOut,
    thread_of_site_code,
)
from ai_assistant.types import (
    INSTRUCTION_CHARS,
    Agent,
    Instruction,
    Placement,
    RunContext,
    Skill,
)

logger = logging.getLogger("ai_assistant")

Function = Callable[[RunContext], str | None]
FUNCTION_S = 1.0  # in which one function has to answer
STEP_S = 3.0  # in which all functions of a step have to
_functions = ThreadPoolExecutor(max_workers=64, thread_name_prefix="aia-instructions")
_bulkhead = Bulkhead()

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
    texts = _Texts(setup.context)
    instructions, crowded_out = within(
        _instructions(setup, texts), conf.INSTRUCTIONS_CHARS
    )
    loaded, too_long = within(_loaded(setup, module), conf.SKILLS_LOADED_CHARS)
    here = {part.id for part in loaded}
    others = [s for s in setup.skills.values() if _part_id(s.name) not in here]
    listed, unlisted = _listed(others)
    parts = [*_of_agent(agent, texts), *instructions, *loaded, *listed]
    return parts, [*texts.failed, *crowded_out, *too_long, *unlisted]


def _of_agent(agent: Agent | None, texts: "_Texts") -> Iterator[PromptPart]:
    if agent is None:
        return
    source = f"agent:{agent.name}"
    if text := texts.of(source, agent.instructions):
        yield PromptPart(
            id="agent",
            text=text,
            source=source,
            cacheable=isinstance(agent.instructions, str),
        )


def _instructions(setup: Setup, texts: "_Texts") -> Iterator[PromptPart]:
    for instruction in setup.instructions:
        part_id = f"instruction:{instruction.name}"
        if text := texts.of(part_id, instruction.text):
            yield PromptPart(
                id=part_id,
                text=text,
                source=instruction.origin,
                priority=instruction.priority,
                cacheable=_is_fixed(instruction),
            )


class _Texts:
    """
    The words of instructions and agents for one step, cut where they are too long.

    Functions work in threads of their own: one that hangs has no words, and ends no run.
    `failed` names those whose function failed or took too long.
    """

    def __init__(self, context: RunContext) -> None:
        self.failed: list[str] = []
        self._context = context
        self._until = time.monotonic() + STEP_S

    def of(self, name: str, text: "str | Function") -> str:
        """Return the words of `instruction:<name>` or `agent:<name>`."""
        if isinstance(text, str):
            return text.strip()
        made = self._made(name, text)
        if len(made) > INSTRUCTION_CHARS:
            said = "%s has %s characters, and is cut at %s"
            logger.warning(said, name, len(made), INSTRUCTION_CHARS)
        return made[:INSTRUCTION_CHARS].strip()

    def _made(self, name: str, function: "Function") -> str:
        def work() -> str:
            with thread_of_site_code():
                return str(function(self._context) or "")

        left_s = min(FUNCTION_S, self._until - time.monotonic())
        try:
            return _bulkhead.ask(_functions, name, work, timeout_s=left_s)
        except (CodeTimedOut, BulkheadFull):
            logger.warning("the function of %s takes too long", name)
        except Exception:
            logger.exception("the function of %s failed", name)
        self.failed.append(name)
        return ""


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
