"""The tool with which the model finds the tools that it was not told of."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from ai_assistant.decorators import tool
from ai_assistant.engine.calls.availability import told_tools, tools_of
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.engine.storage.units import unit
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.tools.data.arguments import why_missing
from ai_assistant.tools.find import FIND_TOOLS, matching
from ai_assistant.types import RunContext, ToolDefinition


@tool(effect="read", name=FIND_TOOLS, label=_("Find tools"), icon="search", shared=True)
def find_tools(context: RunContext, query: str) -> dict[str, Any]:
    """
    Find more tools by a few words, in English or as this site names things.

    Use it if no tool that you have does what is asked. Those found can be called
    from your next step on.
    """
    run = Run.objects.get(pk=context.run_id)
    scope = RunScope(run, context.user)
    told = {one.name for one in told_tools(scope)}
    others = [one for one in tools_of(scope) if one.name not in told]
    found = matching(query, others)
    missing = why_missing(context.user)
    said = {"missing": missing} if missing else {}
    if not found:
        note = "There is no other tool for this. Say so."
        return {"found": [], "note": note, **said}
    _load(run, found)
    lines = [_line(one) for one in found]
    return {"found": lines, "note": "You have them now.", **said}


@unit
def _load(run: Run, found: list[ToolDefinition]) -> None:
    """Let the next steps of the run tell of the tools found."""
    pass_by_state(run.pk, tuple(UNFINISHED))  # two searches stand in line
    loaded = Run.objects.values_list("loaded_tools", flat=True).get(pk=run.pk)
    names = dict.fromkeys([*loaded, *(one.name for one in found)])
    Run.objects.filter(pk=run.pk).update(loaded_tools=[*names])


def _line(one: ToolDefinition) -> dict[str, str]:
    return {"name": one.name, "does": one.description.partition("\n\n")[0]}
