"""A person's own prompt commands: listed, saved, deleted. The one place that writes them."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from ai_assistant.configuration.commands import PLACE
from ai_assistant.configuration.rows import rows_of
from ai_assistant.exceptions import Refused
from ai_assistant.models.configuration import PromptCommand
from ai_assistant.registry import registry
from ai_assistant.text.redaction.redact import redact_values
from ai_assistant.types import COMMAND_CHARS

MOST = 100  # of one person
ARGUMENTS = "arguments"  # the one place that a text of one's own may have


def own_commands(user: Any) -> list[PromptCommand]:
    """Return the commands of a person, by name."""
    return list(PromptCommand.objects.filter(owner_id=user.pk).order_by("name"))


def shared_commands(names: Iterable[str]) -> list[PromptCommand]:
    """Return the rows of the site, and of its groups, that have these names."""
    wanted = set(names)
    rows = rows_of(PromptCommand)
    return [row for row in rows if row.owner_id is None and row.name in wanted]


def save_own(
    user: Any, *, name: str, text: str, description: str = ""
) -> PromptCommand:
    """
    Save a command of a person; one of the same name is replaced.

    Raise Refused command_name, command_text or too_many: a sentence each.
    """
    name = name.strip().removeprefix("/").lower()
    if name in registry.parts("command"):
        sentence = _("The site has a command “/%(name)s”. Choose another name.")
        raise Refused("command_name", sentence % {"name": name})
    if len(text) > COMMAND_CHARS:  # a TextField does not look at its length
        sentence = _("This text has %(n)d characters; at most %(most)d can be kept.")
        raise Refused(
            "command_text", sentence % {"n": len(text), "most": COMMAND_CHARS}
        )
    for place in PLACE.findall(text):
        if place != ARGUMENTS:
            sentence = _(
                "The text has the place “{{ %(place)s }}”. Only “{{ arguments }}” "
                "stands for something: what you write after the name."
            )
            raise Refused("command_text", sentence % {"place": place})
    own = PromptCommand.objects.filter(owner_id=user.pk)
    before = own.filter(name=name).first()
    if before is None and own.count() >= MOST:
        sentence = _("You have %(n)d commands already. Delete one first.")
        raise Refused("too_many", sentence % {"n": MOST})
    row = before or PromptCommand(owner=user, name=name)
    row.text = redact_values(text.strip())
    row.description = redact_values(" ".join(description.split()))
    try:
        row.save()
    except ValidationError as error:
        raise _refused(error) from error
    return row


def delete_own(user: Any, pk: int) -> None:
    """Delete a command of a person. Raise Refused not_found."""
    _delete(user, pk=pk)


def delete_named(user: Any, name: str) -> None:
    """Delete a command of a person by its name. Raise Refused not_found."""
    _delete(user, name=name)


def _delete(user: Any, **named: object) -> None:
    row = PromptCommand.objects.filter(owner_id=user.pk, **named).first()
    if row is None:
        raise Refused("not_found", _("This command does not exist."))
    row.delete()


def _refused(error: ValidationError) -> Refused:
    """Return the first problem of a row as a sentence."""
    name, texts = next(iter(error.message_dict.items()))
    code = "command_name" if name == "name" else "command_text"
    return Refused(code, str(texts[0]))
