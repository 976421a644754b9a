"""
The commands that come with the assistant, made as a site makes its own.

All but `/skill` answer themselves: nothing of them is stored, and but for `/compact`
they ask no model.
"""

from collections.abc import Iterator
from contextlib import suppress

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import types
from ai_assistant.configuration.command_arguments import hint_of
from ai_assistant.configuration.profiles import offered_profiles
from ai_assistant.configuration.setup import resolve
from ai_assistant.context.collect import KeptChips, collect_items, sent_items
from ai_assistant.engine.calls.availability import tools_of
from ai_assistant.engine.intake.conversations import flag
from ai_assistant.engine.lifecycle.mentions import mentioned_items
from ai_assistant.engine.lifecycle.scope import scope_of_page
from ai_assistant.engine.queries import row_changes
from ai_assistant.exceptions import Refused
from ai_assistant.models.configuration import Instruction, Skill
from ai_assistant.registry import registry
from ai_assistant.teaching import prompt_command
from ai_assistant.tools.data.reading.pointing import pointed_items
from ai_assistant.types import CommandAnswer, RunContext


@prompt_command(description=gettext_lazy("List the commands."))
def help(context: RunContext) -> CommandAnswer:  # noqa: A001 - it is the name
    """List the commands."""
    commands = resolve(context).commands
    lines = []
    for name in sorted(commands):
        hint = f" {hint_of(commands[name])}" if hint_of(commands[name]) else ""
        lines.append(f"- `/{name}{hint}` {_plain(commands[name].description)}")
    return CommandAnswer(text="\n".join(lines))


@prompt_command(description=gettext_lazy("Begin a new conversation."))
def new() -> CommandAnswer:
    """Begin a new conversation."""
    return CommandAnswer(does="new")


@prompt_command(
    description=gettext_lazy("Archive this conversation and begin a new one.")
)
def clear(context: RunContext) -> CommandAnswer:
    """Archive this conversation and begin a new one."""
    with suppress(Refused):  # nothing was said in it yet
        flag(context.user.pk, context.conversation_id, "archive")
    return CommandAnswer(does="new")


@prompt_command(description=gettext_lazy("Show how the last changes would be undone."))
def undo(context: RunContext) -> CommandAnswer:
    """Show how the last changes would be undone."""
    changed = row_changes(context.user.pk).filter(
        change_set__run__conversation=context.conversation_id, undone_by=None
    )
    newest = changed.order_by("-change_set__created_at", "-pk")
    run_id = newest.values_list("change_set__run_id", flat=True).first()
    if run_id is None:
        return CommandAnswer(text=_("Nothing was changed in this conversation."))
    return CommandAnswer(does="undo", value=str(run_id))


@prompt_command(description=gettext_lazy("List what the assistant can do here."))
def tools(context: RunContext) -> CommandAnswer:
    """List what the assistant can do here, and what it was taught for this page."""
    lines = [
        f"- **{_plain(tool.display.label)}** (`{tool.name}`, {tool.effect}): "
        f"{_plain(tool.description.partition(chr(10))[0])}"
        for tool in tools_of(scope_of_page(context))
    ]
    told = "\n".join(lines) or _("It has no tools here.")
    return CommandAnswer(text="\n\n".join([told, *_taught(context)]))


def _taught(context: RunContext) -> Iterator[str]:
    """Yield lists of skills, and of what else only superusers see: prompt and hooks."""
    setup = resolve(context)
    skills = [
        f"- **{_plain(name)}** ({_source(skill)}): {_plain(skill.description)}"
        for name, skill in sorted(setup.skills.items())
    ]
    yield from _listed(Skill._meta.verbose_name_plural, skills)
    if not context.user.is_superuser:
        return
    instructions = [
        f"- **{_plain(o.name)}** ({_source(o)})" for o in setup.instructions
    ]
    yield from _listed(Instruction._meta.verbose_name_plural, instructions)
    hooks = [
        f"- **{_plain(hook.name)}** (`{hook.origin}`): {_plain(hook.where)}"
        for hook in registry.hooks()
        if hook.is_for(context.module, agent=context.agent)
    ]
    yield from _listed(_("Hooks"), hooks)


def _listed(title: object, lines: list[str]) -> Iterator[str]:
    if lines:
        yield "\n".join([f"**{capfirst(str(title))}**", "", *lines])


def _source(part: types.Skill | types.Instruction) -> str:
    """Return where it comes from, and which pages it is for."""
    place = part.placement
    named = ("module", "model", "view", "group", "language", "permission")
    where = [f"{name} {getattr(place, name)}" for name in named if getattr(place, name)]
    return ", ".join(f"`{one}`" for one in (part.origin, *where) if one)


@prompt_command(
    name="context", description=gettext_lazy("List what is sent of this page.")
)
def sent_context(context: RunContext) -> CommandAnswer:
    """List what is sent of this page."""
    kept = context.actions.kept or KeptChips()
    items = sent_items(collect_items(context, kept.browser).items, kept)
    items += pointed_items(context, kept.mentioned)
    items += mentioned_items(kept.mentioned, context.user, resolve(context))
    lines = [
        f"- **{_plain(item.title or item.id)}**: {_plain(item.description)}"
        for item in items
    ]
    return CommandAnswer(text="\n".join(lines) or _("Nothing of this page is sent."))


@prompt_command(description=gettext_lazy("Choose the model that answers."))
def model(name: str = "") -> CommandAnswer:
    """Choose the model that answers."""
    offered = offered_profiles()
    wanted = name.strip().casefold()
    for profile, label in offered.items():
        if wanted and wanted in (profile.casefold(), label.casefold()):
            said = _("From now on %(model)s answers.") % {
                "model": f"**{_plain(label)}**"
            }
            return CommandAnswer(text=said, does="model", value=profile)
    lines = [f"- `/model {key}` {_plain(label)}" for key, label in offered.items()]
    unknown = _("There is no model “%(name)s”. There are:") % {"name": _plain(name)}
    return CommandAnswer(
        text="\n\n".join([unknown] * bool(wanted) + ["\n".join(lines)])
    )


@prompt_command(description=gettext_lazy("Follow a procedure of this site."))
def skill(context: RunContext, name: str = "") -> str | CommandAnswer:
    """Follow a procedure of this site."""
    skills = resolve(context).skills
    wanted, _space, rest = name.strip().partition(" ")
    if wanted in skills:
        return f"Read the procedure {wanted!r} with get_skill and follow it. {rest}".strip()
    lines = [
        f"- `/skill {one.name}` {_plain(one.description)}" for one in skills.values()
    ]
    return CommandAnswer(
        text="\n".join(lines) or _("This site has no procedures for this page.")
    )


@prompt_command(
    description=gettext_lazy("Sum up the earlier part of this conversation now.")
)
def compact() -> CommandAnswer:
    """Sum up the earlier part of this conversation now."""
    return CommandAnswer(does="summary")


@prompt_command(description=gettext_lazy("Save this conversation as a file."))
def export() -> CommandAnswer:
    """Save this conversation as a file."""
    return CommandAnswer(does="export")


def _plain(text: object) -> str:
    """Return a text on one line that no Markdown is made of."""
    line = " ".join(str(text).split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~" else char for char in line)
