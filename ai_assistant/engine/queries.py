"""The rows of a user: conversations, runs, calls, interrupts; and the lists of them."""

import time
from collections.abc import Collection, Sequence
from datetime import datetime
from math import inf
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import (
    Exists,
    F,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
)
from django.db.models.functions import Cast

from ai_assistant.engine.storage.branches import tree_of
from ai_assistant.engine.storage.text_search import MessageText, has_all
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.conversation import (
    Conversation,
    ConversationQuerySet,
    Feedback,
    Message,
    QueuedMessage,
)
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import (
    UNATTENDED,
    UNFINISHED,
    WAITING_FOR_PERSON,
    Channel,
    Run,
    RunState,
)
from ai_assistant.text.unicode import is_control
from ai_assistant.types import UserKey

UNDO_OTHERS = "ai_assistant.undo_changes"

M = TypeVar("M", bound=Model)


def get_or_404(rows: "QuerySet[M]", key: object, text: str = "") -> M:
    """Return the row of that primary key. Raise Refused not_found without one."""
    row = rows.filter(pk=key).first()
    if row is None:
        raise Refused("not_found", text)
    return row


# --- what a user has; a deleted conversation is gone, with all that is in it ---


def conversations(user_id: UserKey) -> ConversationQuerySet:
    """Return the conversations of a user."""
    return Conversation.objects.own(user_id)


def thread_of(user_id: UserKey, name: str) -> Conversation | None:
    """Return the conversation of a user to which a client has given that name."""
    return Conversation.objects.read_own(user_id, thread_id=name)


def conversation_of(user_id: UserKey, conversation_id: UUID) -> Conversation | None:
    """Return the conversation of a user with that id, if there is one."""
    return Conversation.objects.read_own(user_id, pk=conversation_id)


def runs(user_id: UserKey) -> QuerySet[Run]:
    """Return the runs of a user."""
    return Run.objects.filter(user_id=user_id, conversation__deleted_at=None)


def messages(user_id: UserKey) -> QuerySet[Message]:
    """Return the messages in the conversations of a user."""
    return Message.objects.filter(
        conversation__owner_id=user_id, conversation__deleted_at=None
    )


def calls(user_id: UserKey) -> QuerySet[ToolCall]:
    """Return the tool calls in the runs of a user."""
    return ToolCall.objects.filter(
        run__user_id=user_id, run__conversation__deleted_at=None
    )


def interrupts(user_id: UserKey) -> QuerySet[Interrupt]:
    """Return the interrupts of the runs of a user, each with its run and call."""
    own = Interrupt.objects.filter(
        run__user_id=user_id, run__conversation__deleted_at=None
    )
    return own.select_related("run", "call")


def waiting_interrupts(user_id: UserKey) -> QuerySet[Interrupt]:
    """Return those of them that are open still."""
    return interrupts(user_id).filter(status=Interrupt.Status.OPEN)


def feedback(user_id: UserKey) -> QuerySet[Feedback]:
    """Return what a user thinks of answers."""
    return Feedback.objects.filter(user_id=user_id)


def changes(user_id: UserKey) -> QuerySet[ChangeSet]:
    """Return what the runs of a user have changed; that outlives its conversation."""
    return ChangeSet.objects.filter(user_id=user_id)


def changes_of_object(user: Any, model: str, object_id: str) -> QuerySet[RowChange]:
    """Return what was changed of an object that this user may undo, newest first."""
    rows = RowChange.objects.filter(model=model, object_id=object_id)
    rows = rows.filter(change_set__kind=ChangeSet.Kind.CALL)
    if not user.has_perm(UNDO_OTHERS):
        rows = rows.filter(change_set__user=user)
    rows = rows.select_related("change_set__user").defer("change_set__snapshots")
    return rows.order_by("-change_set__created_at", "-pk")


def undos_in(conversation_id: UUID) -> dict[UUID, UUID]:
    """Return the undos and redos of a conversation, with the run of each."""
    undos = ChangeSet.objects.filter(run__conversation_id=conversation_id)
    undos = undos.exclude(kind=ChangeSet.Kind.CALL).order_by()
    return dict(undos.values_list("pk", "run_id"))


def row_changes(user_id: UserKey) -> QuerySet[RowChange]:
    """Return the rows that the runs of a user have changed."""
    return RowChange.objects.filter(change_set__user_id=user_id)


def queued_messages(conversation_id: UUID) -> QuerySet[QueuedMessage]:
    """Return the messages that wait in a conversation, the next one first."""
    return QueuedMessage.objects.waiting_in(conversation_id)


def queued_message(user_id: UserKey, key: str) -> QueuedMessage | None:
    """Return the queued message of that key, also if it was dropped."""
    return QueuedMessage.objects.sent_as(user_id, key)


def find_conversation(user_id: UserKey, name: str) -> Conversation | None:
    """Return the conversation of a user that is named by its id, if there is one."""
    key = _uuid(name)
    own = conversations(user_id).select_related("share")
    return own.filter(pk=key).first() if key else None


def is_unused(name: str) -> bool:
    """Return whether `name` is an id in canonical form that no conversation has."""
    key = _uuid(name)
    if key is None or name != str(key):
        return False
    return not Conversation.objects.filter(pk=key).exists()


def is_anothers(user_id: UserKey, conversation_id: UUID) -> bool:
    """
    Return whether the conversation is another user's, or deleted, or of a call.

    One without a row is not.
    """
    rows = Conversation.objects.filter(pk=conversation_id)
    own = rows.exclude(owner_id=user_id, deleted_at=None, parent_call=None)
    return own.exists()


def can_be_restored(user_id: UserKey, conversation_id: UUID) -> bool:
    """Return whether the user has deleted the conversation, and its row is there."""
    rows = Conversation.objects.filter(pk=conversation_id, owner_id=user_id)
    return rows.exclude(deleted_at=None).exists()


def active_run(conversation: Conversation | None) -> Run | None:
    """Return the run of a conversation that has not ended."""
    if conversation is None:
        return None
    found = Run.objects.read_unfinished(conversation.pk)
    if found is not None:
        found.conversation = conversation
    return found


def active_run_of(user_id: UserKey, conversation_id: str) -> Run | None:
    """Return the unfinished run of the conversation of that id; one query."""
    own = Run.objects.filter(user_id=user_id, conversation_id=conversation_id)
    return own.filter(state__in=UNFINISHED).first()


def waits_for_person(run: Run) -> str:
    """
    Return the state in which a run waits for its person; empty if it does not.

    That of a run below it, if it waits for another agent.
    """
    if run.state != RunState.WAITING_RUN:
        return run.state if run.state in WAITING_FOR_PERSON else ""
    below = Run.objects.filter(root=run, state__in=WAITING_FOR_PERSON)
    return below.order_by("state").values_list("state", flat=True).first() or ""


def last_run(conversation: Conversation | None) -> Run | None:
    """Return the run that ends what is shown of a conversation."""
    return conversation.runs.shown().first() if conversation else None


def question_of_run(user_id: UserKey, run_id: UUID) -> Message:
    """
    Return what a user has asked in a run. Raise Refused not_found.

    What code of the site has asked is not theirs.
    """
    asked = messages(user_id).filter(run=run_id, role=Message.Role.USER)
    asked = asked.filter(label=Message.Label.USER)
    found = asked.order_by("position").first()
    if found is None:
        raise Refused("not_found", "")
    return found


def failed_hooks(since: datetime, most: int = 500) -> dict[str, dict[str, Any]]:
    """Return the hooks that have failed since, by name: point, error and count."""
    runs = Run.objects.filter(created_at__gte=since).exclude(hook_errors=[])
    newest = runs.order_by("-created_at").values_list("hook_errors", flat=True)
    found: dict[str, dict[str, Any]] = {}
    for errors in newest[:most]:
        for one in errors:
            told = found.setdefault(one["hook"], {**one, "count": 0})
            told["count"] += one["count"]
    return found


def hidden_runs(conversation_id: UUID) -> list[UUID]:
    """Return the runs of a conversation that are not on the branch that is shown."""
    tree = tree_of(Conversation.objects.get(pk=conversation_id))
    return tree.elsewhere(tree.path)


def has_changes(conversation_id: UUID | str) -> bool:
    """Return whether a run of the conversation has changed something."""
    return ChangeSet.objects.filter(run__conversation_id=conversation_id).exists()


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


# --- what is kept, whoever may see it ---


def stored_conversations(user_id: UserKey | None = None) -> ConversationQuerySet:
    """Return the conversations of a user, or of all, also those just deleted."""
    every = Conversation.objects.filter(parent_call=None)  # the others go with these
    return every if user_id is None else every.filter(owner_id=user_id)


def conversations_of_agents(user_id: UserKey) -> ConversationQuerySet:
    """Return those in which agents work that calls of a user have asked."""
    every: ConversationQuerySet = Conversation.objects.filter(owner_id=user_id)
    return every.exclude(parent_call=None)


def unused_conversations(
    before: datetime, user_id: UserKey | None = None
) -> ConversationQuerySet:
    """Return the conversations unused since `before`, none with an unfinished run."""
    old = stored_conversations(user_id).filter(updated_at__lt=before)
    return old.exclude(runs__state__in=UNFINISHED)


def left_changes(user_id: UserKey | None = None) -> QuerySet[ChangeSet]:
    """Return the changes of a user, or of all, whose conversations are deleted."""
    left = ChangeSet.objects.filter(run=None)
    return left if user_id is None else left.filter(user_id=user_id)


def changes_with_images(
    before: datetime, user_id: UserKey | None = None
) -> QuerySet[ChangeSet]:
    """Return the changes from before `before` that can still be undone."""
    rows = RowChange.objects.filter(change_set=OuterRef("pk")).with_images()
    kept = Exists(rows) | Q(snapshots__isnull=False)
    old = ChangeSet.objects.filter(kept, created_at__lt=before)
    return old if user_id is None else old.filter(user_id=user_id)


def runs_of_tokens(tokens: Collection[UUID] | QuerySet[Any]) -> QuerySet[Run]:
    """Return what works for access tokens, and would end with them."""
    return Run.objects.filter(token_id__in=tokens, state__in=UNATTENDED)


# --- what its owner has not read ---

MOST_UNREAD = 99  # that are counted
FOR_A_PERSON = (Channel.PANEL, Channel.CODE)  # what runs of these say is read here


def unread(user_id: UserKey) -> ConversationQuerySet:
    """
    Return the conversations in which a run has ended since they were read.

    A program elsewhere reads what it has asked for. One of before `read_at` counts as
    read.
    """
    # Each end of a run counts as a use: only what was used since is looked at.
    used = conversations(user_id).filter(updated_at__gt=F("read_at"))
    return used.filter(has_news())


def has_news() -> Exists:
    """Return the condition of a conversation that a run has ended since it was read."""
    ended = Run.objects.filter(
        conversation=OuterRef("pk"),
        channel__in=FOR_A_PERSON,
        finished_at__gt=OuterRef("read_at"),
    )
    return Exists(ended)


def count_unread(user_id: UserKey) -> int:
    """Return how many conversations are unread, MOST_UNREAD at most."""
    return unread(user_id)[:MOST_UNREAD].count()


def is_news(conversation: Conversation, run: Run) -> bool:
    """Return whether `run` has ended since its conversation was read. No query."""
    read_at, ended_at = conversation.read_at, run.finished_at
    is_later = read_at is not None and ended_at is not None and ended_at > read_at
    return is_later and run.channel in FOR_A_PERSON


# --- what code of the site has started for somebody ---

STARTS_TTL_S = 5.0  # for which a process believes that there are none


class CodeStarts:
    """
    Whether code of the site starts runs at all: most sites never do.

    Each page of theirs then saves the question what it has started for its person.
    """

    def __init__(self) -> None:
        self._are_used = False
        self._asked_at = -inf

    def are_used(self) -> bool:
        """Return whether any such run is there; seldom asks the database."""
        now = time.monotonic()
        if not self._are_used and now - self._asked_at >= STARTS_TTL_S:
            self._are_used = Run.objects.filter(channel=Channel.CODE).exists()
            self._asked_at = now
        return self._are_used

    def forget(self) -> None:
        """Ask again when it is next needed."""
        self._are_used, self._asked_at = False, -inf


code_starts = CodeStarts()


def run_of_code(user_id: UserKey) -> Run | None:
    """
    Return an unfinished run that code of the site has started for a user.

    The one that waits longest for the person, or else that works longest.
    """
    if not code_starts.are_used():
        return None
    own = runs(user_id).filter(channel=Channel.CODE, state__in=UNFINISHED, root=None)
    found = own.select_related("conversation").order_by("created_at")
    return min(found, key=lambda run: not waits_for_person(run), default=None)


# --- the list of conversations ---

SEARCH_CHARS = 200
MOST_WORDS = 8


def conversation_list(
    user_id: UserKey, words: Sequence[str] = (), *, archived: bool = False
) -> ConversationQuerySet:
    """
    Return the conversations of a user: pinned ones first, then the last used.

    With `words`, return those that contain all of them, the last used first; `hit` is
    then the key of the newest matching message, or None if only the title matches.
    """
    own = conversations(user_id).select_related("share")
    if not words:
        own = own.filter(archived_at__isnull=not archived)
        return own.order_by(F("pinned_at").desc(nulls_last=True), "-updated_at", "-pk")
    texts = Message.objects.filter(conversation=OuterRef("pk"))
    texts = texts.exclude(role=Message.Role.SUMMARY)
    texts = texts.annotate(text_parts=MessageText("parts"))
    newest = texts.filter(has_all("text_parts", words)).order_by("-position")
    hits = own.annotate(hit=Subquery(newest.values("pk")[:1]))
    hits = hits.filter(Q(hit__isnull=False) | has_all("title", words))
    return hits.order_by("-updated_at")


def messages_with(word: str) -> QuerySet[Message]:
    """Return the messages of all users that contain a word, for who may read them."""
    texts = Message.objects.exclude(role=Message.Role.SUMMARY).order_by()
    if word.isascii() and word.isalnum():
        # So it stands in the JSON too: most rows are left out without looking inside.
        texts = texts.annotate(as_text=Cast("parts", TextField()))
        texts = texts.filter(as_text__icontains=word)
    said = texts.annotate(text_parts=MessageText("parts"))
    return said.filter(has_all("text_parts", [word]))


def activity(keys: Collection[UUID]) -> tuple[dict[UUID, str], set[UUID]]:
    """Return what the runs under way do, "run" or "wait", and what is unread."""
    news = Q(channel__in=FOR_A_PERSON, finished_at__gt=F("conversation__read_at"))
    found = Run.objects.filter(Q(state__in=UNFINISHED) | news, conversation__in=keys)
    rows = list(found.values_list("conversation_id", "state").distinct())
    busy = {
        conversation: "wait" if state in WAITING_FOR_PERSON else "run"
        for conversation, state in rows
        if state in UNFINISHED
    }
    if any(state == RunState.WAITING_RUN for _conversation, state in rows):
        below = Run.objects.filter(
            root__conversation__in=keys, state__in=WAITING_FOR_PERSON
        )
        for conversation in below.values_list("root__conversation_id", flat=True):
            busy[conversation] = "wait"
    return busy, {conversation for conversation, state in rows} - busy.keys()


def search_words(text: str) -> tuple[str, ...]:
    """Return the words to look for, each once; none of what is no text."""
    kept = "".join(" " if is_control(char) else char for char in text[:SEARCH_CHARS])
    return tuple(dict.fromkeys(kept.split()))[:MOST_WORDS]
