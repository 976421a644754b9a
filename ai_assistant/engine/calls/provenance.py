"""Where the arguments of a call come from, and whether a person must approve it."""

from itertools import chain
from uuid import UUID

from django.apps import apps
from django.utils.translation import gettext as _

from ai_assistant.configuration.skill_tool import get_skill
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import providers_of
from ai_assistant.engine.accounting.prompts import HAS_DATA
from ai_assistant.engine.interrupts.question import options_of
from ai_assistant.engine.storage.delegated import ASK_AGENT, conversation_shown
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import Channel, Run, Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.safety.policy.provenance import MODEL, ChosenObject, Origins, look_at
from ai_assistant.safety.policy.typed_text import TypedWords
from ai_assistant.tools.arguments import function_schema
from ai_assistant.tools.ask_user import ask_user
from ai_assistant.tools.data.reading.pointing import is_pointed, named_object
from ai_assistant.tools.find import FIND_TOOLS
from ai_assistant.tools.followups import comparable, digest, suggest_followups, texts_in
from ai_assistant.tools.plan import update_plan
from ai_assistant.types import JSON, ToolDefinition, Verdict

# What these return are the person's own words, words of the site, or the model's own.
NO_DATA = (
    *(ask_user.__name__, FIND_TOOLS, get_skill.__name__),
    *(suggest_followups.__name__, update_plan.__name__),
)
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
    words = TypedWords(tuple(typed_by_person(conversation_shown(run))))
    found = look_at(
        call.arguments,
        Origins(
            words=words,
            schema=function_schema(tool)["function"]["parameters"],
            chosen=(*_opened(run), *_pointed(run)),
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


def has_data(run: Run, step_id: int | None = None) -> bool:
    """Return whether the model has seen data in this conversation before that step."""
    if run.state_data:
        return True  # hooks may have told it, and an AG-UI client has sent it
    if _has_results(run, step_id):
        return True
    own = Message.objects.filter(conversation_id=run.conversation_id)
    if own.filter(role=Message.Role.SUMMARY, parts__0__label="data").exists():
        return True  # what it was made of has gone, and its words are still told
    steps = Step.objects.filter(run__conversation_id=run.conversation_id)
    if steps.filter(**{f"prompt__{HAS_DATA}": True}).exists():
        return True  # hooks have put it into a request
    pages = Run.objects.filter(conversation_id=run.conversation_id)
    said = Message.objects.filter(conversation_id=run.conversation_id)
    if said.filter(label=Message.Label.DATA).exists():
        return True  # code of the site has made it of data
    shows_data = any(
        _shows_data(path, title, context)
        for path, title, context in pages.values_list(
            "page_path", "page_title", "context"
        )
    )
    return shows_data or _has_written(run.conversation_id)


def _has_results(run: Run, step_id: int | None) -> bool:
    """Return whether a tool has told the model of data before that step."""
    results = ToolCall.objects.filter(
        run__conversation_id=run.conversation_id,
        status__in=(CallStatus.COMPLETE, CallStatus.FAILED, CallStatus.UNKNOWN),
    ).exclude(name__in=NO_DATA)
    results = results.exclude(effect="")  # there was no such tool
    read = results if step_id is None else results.exclude(step_id=step_id)
    names = set(read.order_by().values_list("name", flat=True).distinct())
    if names - {ASK_AGENT}:
        return True
    # What another agent answers may be made of what it has read.
    asked = Run.objects.filter(conversation__parent_call__in=read) if names else ()
    return any(map(has_data, asked))


def typed_by_person(conversation_id: UUID) -> list[str]:
    """
    Return what the person has written there: messages, and answers to questions.

    A text that the model has suggested before is not theirs, however it was sent: a
    press is not told from the same words typed, and they may come from data.
    """
    messages = Message.objects.filter(
        conversation_id=conversation_id, role=Message.Role.USER
    ).filter(label=Message.Label.USER)
    offered, written = _offered_at(conversation_id), _written_for(conversation_id)
    texts = []
    for message in messages.order_by("position"):
        own = [message.typed]
        if message.command.get("label") == "user":  # the words of a command of theirs
            own.append(message.text)
        at = message.position
        texts += [one for one in own if at <= offered.get(comparable(one), at)]
    answered = Interrupt.objects.filter(
        run__conversation_id=conversation_id,
        status=Interrupt.Status.ANSWERED,
    )
    for question in answered:
        said = _answers(question)
        texts += [one for one in said if comparable(one) not in offered]
    return [text for text in texts if digest(text) not in written]


def _offered_at(conversation_id: UUID) -> dict[str, int]:
    """
    Return what the model has suggested there, with the position of its first message.

    What a client may have shown counts too: what the model asked for, and what failed.
    """
    calls = ToolCall.objects.filter(
        run__conversation_id=conversation_id, name=suggest_followups.__name__
    )
    rows = calls.order_by("-step__message__position").values_list(
        "step__message__position", "arguments", "result"
    )
    return {
        text: at
        for at, arguments, result in rows
        for text in (*texts_in(arguments), *texts_in(result))
    }


def _written_for(conversation_id: UUID) -> frozenset[str]:
    """Return the digests of what models have suggested to the person on any page."""
    owner = Conversation.objects.filter(pk=conversation_id).values("owner_id")
    calls = UsageLedger.objects.filter(run=None, user_id__in=owner).order_by()
    rows = calls.exclude(suggested=[]).values_list("suggested", flat=True)
    return frozenset(chain.from_iterable(rows))


def _has_written(conversation_id: UUID) -> bool:
    """Return whether the person has sent there what a model made of another page."""
    written = _written_for(conversation_id)
    messages = Message.objects.filter(
        conversation_id=conversation_id, role=Message.Role.USER
    )
    return bool(written) and any(digest(one.typed) in written for one in messages)


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
    if any(map(is_pointed, context.get("mentioned", ()))):
        return True
    if not path:
        return bool(title)
    page = find_page(path)
    if page is None or "?" in path or "#" in path:
        return True  # whoever made the link may have written it
    is_plain = page.info.action in PLAIN_PAGES
    if not is_plain and (title or page.info.arguments):
        return True
    return any(True for _one in providers_of(page))


def _opened(run: Run) -> list[ChosenObject]:
    """Return the object of the page that the person has opened, if it is one."""
    page: SitePage | None = find_page(run.page_path) if run.page_path else None
    if page is None or page.model_admin is None or not page.info.object_id:
        return []
    named = Run.objects.filter(
        conversation_id=run.conversation_id,
        channel=Channel.CODE,
        page_path=run.page_path,
    )
    if named.exists():  # by code of the site, for this run or for one that it repeats
        return []
    label = page.model_admin.opts.label_lower
    return [ChosenObject(model=label, object_id=page.info.object_id)]


def _pointed(run: Run) -> list[ChosenObject]:
    """Return the objects that the person has pointed at in this conversation."""
    contexts = Run.objects.filter(conversation_id=run.conversation_id)
    ids = {
        item_id
        for context in contexts.values_list("context", flat=True)
        for item_id in context.get("mentioned", ())
        if is_pointed(item_id)
    }
    named = map(named_object, sorted(ids))
    return [
        ChosenObject(model=model, object_id=key, is_pointed=True)
        for model, key in named
    ]


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
    policy says, and so does each of a run that no person has started.
    """
    if verdict.decision != "allow":
        return verdict
    if call.run.channel == Channel.CODE:
        reason = _("Asks because code of this site has asked for it, not you.")
        return Verdict(decision="ask", reason=reason, source="code")
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
    if run.channel == Channel.CODE:
        return False  # nobody has said that there
    return Grant.objects.filter(run=run, tool=tool.name, model=model).exists()


def granted() -> str:
    """Return the sentence for a call that such an allowance covers."""
    return _("You allowed it for this answer.")
