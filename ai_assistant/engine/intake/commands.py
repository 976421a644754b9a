"""A message that begins with `/name`: the command is expanded before it is stored."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.commands import named_in, sent_command
from ai_assistant.configuration.setup import resolve
from ai_assistant.engine.intake.submission import clean_text
from ai_assistant.engine.intake.values import Submission
from ai_assistant.engine.lifecycle.scope import kept_of
from ai_assistant.engine.storage.units import with_connections
from ai_assistant.exceptions import Refused
from ai_assistant.modules.resolve import page_context
from ai_assistant.safety.bulkhead import Bulkhead, BulkheadFull, CodeTimedOut
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.text.redaction.redact import redact_values
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.types import CallActions, SentCommand

_commands = ThreadPoolExecutor(max_workers=16, thread_name_prefix="aia-command")
_bulkhead = Bulkhead()


async def with_command(submission: Submission) -> Submission:
    """
    Return a message with the command that it is, if it is one.

    Raise Refused: arguments, answered, command_failed, too_long, timeout.
    """
    named = named_in(submission.text)
    if named is None or not submission.is_unexpanded:
        return submission
    name, _rest = named
    work = partial(with_connections, _expanded, submission)
    try:
        command = await _bulkhead.aask(
            _commands, name, work, timeout_s=float(conf.get("TIMEOUTS", "TOOL_S"))
        )
    except (CodeTimedOut, BulkheadFull) as error:
        sentence = _("The command “/%(name)s” takes too long, and nothing was sent.")
        raise Refused("timeout", sentence % {"name": name}) from error
    return replace(submission, command=command)


def _expanded(submission: Submission) -> SentCommand | None:
    """Return the command that a message is. Calls code of the site."""
    user = fresh_user(submission.user_id)
    if user is None:
        return None
    page = submission.page
    context = page_context(user, page.path, page.title)
    context.conversation_id = submission.conversation_id
    context.actions = CallActions(kept=kept_of(page.context))
    given = {
        name: redact_values(clean_text(value))
        for name, value in submission.arguments.items()
        if value.strip()
    }
    text = redact_values(clean_text(submission.text))
    command = sent_command(text, resolve(context).commands, context, given)
    return _within_limits(command) if command is not None else None


def _within_limits(command: SentCommand) -> SentCommand:
    most = int(conf.get("LIMITS", "MESSAGE_CHARS"))
    if len(command.prompt) > most:
        sentence = _(
            "The command “/%(name)s” becomes a message of %(n)d characters; at most "
            "%(most)d can be sent."
        )
        said = {"name": command.name, "n": len(command.prompt), "most": most}
        raise Refused("too_long", sentence % said)
    if not command.prompt:  # there is none of that name
        return command
    prompt = clean_text(join_surrogates(command.prompt))
    return replace(command, prompt=redact_values(prompt))
