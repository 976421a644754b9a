"""Where the arguments of a call come from, and whether a person must approve it."""

from uuid import UUID

from django.apps import apps
from django.utils.translation import gettext as _

from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import providers_of
from ai_assistant.engine.interrupts.question import options_of
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import Run
from ai_assistant.safety.policy.provenance import MODEL, OpenedObject, Origins, look_at
from ai_assistant.safety.policy.typed_text import TypedWords
from ai_assistant.tools.arguments import function_schema
from ai_assistant.tools.ask_user import ask_user
from ai_assistant.tools.find import FIND_TOOLS
from ai_assistant.types import JSON, ToolDefinition, Verdict

# What these return are the person's own words, and names of the site's tools.
NO_DATA = (ask_user.__name__, FIND_TOOLS)
# Titles of these pages say nothing of any row.
PLAIN_PAGES = frozenset({"index", "app_list", "changelist", "add"})
SHOWN_NAMES = 4  # of arguments, in the sentence


def asks_because_of_data(run: Run, call: ToolCall, tool: ToolDefinition) -> str:
    """
    Return why a write asks: its target or a value came from data. Empty if not.

    `call` is not stored yet, or of the step that is looked at: what the model has
    read by then counts. Asks the database, and no code of the site.
    """
    if not has_data(run, call.step_id):
        return ""
    words = TypedWords(tuple(typed_by_person(run.conversation_id)))
    found = look_at(
        call.arguments,
        Origins(
            words=words,
            schema=function_schema(tool)["function"]["parameters"],
            opened=_opened(run),
            named_model=_named_model(call.arguments, words),
        ),
    )
    if found.foreign:
        names = ", ".join(found.foreign[:SHOWN_NAMES])
        more = ", …" if len(found.foreign) > SHOWN_NAMES else ""
        sentence = _(
            "Asks because you did not type this, and it may come from data: %(names)s."
        )
        return sentence % {"names": names + more}
    # To open a page is not to want something done to what is on it.
    if not found.is_meant and not (found.is_opened and _is_named(tool, words)):
        return _("Asks because nothing in it was written by you.")
    return ""


def _is_named(tool: ToolDefinition, words: TypedWords) -> bool:
    """Return whether the person has said what the tool does, by its label or name."""
    return any(
        map(words.has_text, (str(tool.display.label), tool.name.replace("_", " ")))
    )


def has_data(run: Run, step_id: int) -> bool:
    """Return whether the model has seen data in this conversation before that step."""
    results = ToolCall.objects.filter(
        run__conversation_id=run.conversation_id,
        status__in=(CallStatus.COMPLETE, CallStatus.FAILED, CallStatus.UNKNOWN),
    ).exclude(name__in=NO_DATA)
    results = results.exclude(effect="")  # there was no such tool
    if results.exclude(step_id=step_id).exists():
        return True
    pages = Run.objects.filter(conversation_id=run.conversation_id)
    return any(
        _shows_data(path, title, context)
        for path, title, context in pages.values_list(
            "page_path", "page_title", "context"
        )
    )


def typed_by_person(conversation_id: UUID) -> list[str]:
    """Return what the person has written there: messages, and answers to questions."""
    messages = Message.objects.filter(
        conversation_id=conversation_id, role=Message.Role.USER
    )
    texts = [message.text for message in messages.order_by("position")]
    answered = Interrupt.objects.filter(
        run__conversation_id=conversation_id,
        status=Interrupt.Status.ANSWERED,
    )
    for question in answered:
        texts += _answers(question)
    return texts


def _answers(question: Interrupt) -> list[str]:
    """
    Return what the person wrote as the answer.

    What was only picked is not: the model has written the options, and a number that
    was picked for one thing may be used for another.
    """
    offered = {one[name] for one in options_of(question) for name in ("id", "label")}
    said = question.answer
    chosen = said if isinstance(said, list) else [said]
    return [one for one in chosen if isinstance(one, str) and one not in offered]


def _shows_data(path: str, title: str, context: JSON) -> bool:
    """Return whether what the model was given of a run's page may hold data."""
    if context.get("browser") or context.get("tools"):
        return True  # what the page sends, and how it describes its own tools
    if not path:
        return bool(title)
    page = find_page(path)
    if page is None or "?" in path or "#" in path:
        return True  # whoever made the link may have written it
    is_plain = page.info.action in PLAIN_PAGES
    if not is_plain and (title or page.info.arguments):
        return True
    return any(True for _one in providers_of(page))


def _opened(run: Run) -> OpenedObject | None:
    page: SitePage | None = find_page(run.page_path) if run.page_path else None
    if page is None or page.model_admin is None or not page.info.object_id:
        return None
    label = page.model_admin.opts.label_lower
    return OpenedObject(model=label, object_id=page.info.object_id)


def _named_model(arguments: JSON, words: TypedWords) -> str:
    """Return the table that the arguments name, if the person has named it as well."""
    try:
        options = apps.get_model(str(arguments.get(MODEL, "")))._meta
    except (LookupError, ValueError):
        return ""
    names = (options.model_name, options.verbose_name, options.verbose_name_plural)
    is_named = any(words.has_text(str(name)) for name in names if name)
    return options.label_lower if is_named else ""


def consent(call: ToolCall, tool: ToolDefinition, verdict: Verdict) -> Verdict:
    """
    Return what a write needs: the site's `verdict`, and where its arguments come from.

    One whose target or values came from data through the model asks, whatever the
    policy says.
    """
    if verdict.decision != "allow":
        return verdict
    if tool.approval.removes is not None and tool.approval.removes(call.arguments):
        reason = _("Asks because it may remove data for good.")
        return Verdict(decision="ask", reason=reason, source="default")
    if tool.approval.takes_data:
        return verdict  # its developer has said so
    because = asks_because_of_data(call.run, call, tool)
    if not because:
        return verdict
    return Verdict(decision="ask", reason=because, source="data")


def is_granted(run: Run, tool: ToolDefinition, model: str = "") -> bool:
    """Return whether the person has allowed the tool on `model` for this run."""
    if tool.effect == "destructive" or tool.execution.external:
        return False
    return Grant.objects.filter(run=run, tool=tool.name, model=model).exists()


def granted() -> str:
    """Return the sentence for a call that such an allowance covers."""
    return _("You allowed it for this answer.")
