"""The tool with which the model reads a skill."""

from collections.abc import Mapping
from difflib import get_close_matches

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.configuration.setup import setup_of_run
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.types import JSON, RunContext, Skill


def _summary(arguments: dict[str, JSON], _data: JSON) -> str:
    path = str(arguments.get("path") or "")
    name = str(arguments.get("name") or "")
    return _("Read the skill %(name)s") % {"name": f"{name}/{path}" if path else name}


@tool(
    effect="read",
    label=gettext_lazy("Skill"),
    shared=True,
    is_enabled=lambda context: bool(setup_of_run(context).skills),
    icon="book",
    summary=_summary,
)
def get_skill(context: RunContext, name: str, path: str = "") -> dict[str, JSON]:
    """
    Read a procedure of this site, by the name that the list of procedures has.

    name: of the procedure
    path: of one of its files; leave it out for the procedure itself
    """
    skills = setup_of_run(context).skills
    skill = skills.get(name)
    if skill is None:
        raise ModelRetry(_unknown("skill", name, skills))
    if path:
        return {"name": name, "path": path, "text": _file(skill, path)}
    found: dict[str, JSON] = {"name": name, "text": skill.body}
    if skill.files:
        found["files"] = list(skill.files)
    if skill.scripts:
        found["scripts, which you cannot run"] = list(skill.scripts)
    if skill.allowed_tools:
        found["use only these tools"] = list(skill.allowed_tools)
    return found


def _file(skill: Skill, path: str) -> str:
    text = skill.files.get(path)
    if text is None:
        raise ModelRetry(_unknown("file", path, skill.files))
    return text


def _unknown(kind: str, name: str, known: Mapping[str, object]) -> str:
    near = get_close_matches(name, known, n=3) or list(known)[:20]
    there = f"Use one of: {', '.join(near)}." if near else "There are none."
    return f"There is no {kind} {name!r}. {there}"
