"""From the result of a tool to a text for the person."""

import json
import re
from collections.abc import Collection, Iterable, Mapping

from ai_assistant import registry
from ai_assistant.providers.offline.messages import Outcome

# What became of a call that did not succeed, by the type of its error.
NOT_DONE = {
    "denied": "You denied {name}, so it was not carried out.",
    "not_here": "{name} is not available to you here. Nothing was done.",
    "policy": "{name} is not available to you here. Nothing was done.",
    "expired": "Nobody approved {name} in time, so it was not carried out.",
    "cancelled": "{name} was cancelled.",
    "unknown": (
        "It is not known whether {name} took effect, since it was cut off. "
        "Look at the data before you repeat it."
    ),
}
FOR_A_MODEL = re.compile(
    r"(?:Call|Choose|Tell the (?:user|person)|Ask the (?:user|person)|Try)\b"
)
# The tool itself has said nothing, or its card has.
SAYS_ALL = ("denied", "expired", "not_here")


def unknown(what_it_is: str, wish: str) -> str:
    """Say that no rule fits a wish."""
    shown = " ".join(wish.replace("`", "'").split())[:80]
    return (
        f"{what_it_is} None of my rules fits `{shown}`.\n\n"
        "Say `help` to see what I understand."
    )


def failure(outcome: Outcome) -> str:
    """Tell truthfully that a call did not succeed, and why."""
    sentence = NOT_DONE.get(outcome.error_type, "{name} did not succeed.")
    told = sentence.format(name=label(outcome.call.name))
    error = _for_the_person(outcome.error)
    if outcome.error_type in SAYS_ALL or not error:
        return told
    return f"{told} The answer was:\n\n> {error}"


def label(name: str) -> str:
    """Return how a tool is called on its card, in quotes."""
    tool = registry.tools().get(name)
    return f"“{tool.display.label}”" if tool else f"`{name}`"


def help_for(text: str, needed: Mapping[str, str], offered: Collection[str]) -> str:
    """
    Return a help without the wishes whose tool is not offered.

    `needed` has the tool that a wish needs, by how the wish begins.
    """

    def is_offered(line: str) -> bool:
        tools = (
            tool for begin, tool in needed.items() if line.startswith(f"| `{begin}")
        )
        return next(tools, "") in {"", *offered}

    return "".join(filter(is_offered, text.splitlines(keepends=True)))


def unavailable(name: str) -> str:
    """Say that there is no such tool."""
    return f"{label(name)} is not available to you here. Nothing was done."


def result(outcome: Outcome) -> str:
    """Show a result as it is."""
    return f"{label(outcome.call.name)} answered:\n\n{_block(outcome.data)}"


def remembered(texts: list[str]) -> str:
    """Tell what the prompt says that was to be remembered."""
    if not texts:
        return "You have had me remember nothing yet."
    return "You have had me remember:\n\n" + "\n".join(f"- {one}" for one in texts)


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    lines = [list(heads)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _for_the_person(error: str) -> str:
    """Return the error of a tool without the sentences that are for a model."""
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(error.split()))
    return " ".join(one for one in sentences if not FOR_A_MODEL.match(one))


def _block(data: object) -> str:
    if isinstance(data, str):
        return f"```text\n{data}\n```"
    return f"```json\n{json.dumps(data, indent=2, ensure_ascii=False)}\n```"
