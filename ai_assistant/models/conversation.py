"""Conversations, their messages, feedback, and queued messages."""

import uuid
from collections.abc import Mapping
from typing import Any, Self

from django.conf import settings
from django.db import connection, models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField, time_sql, time_text
from ai_assistant.models.raw_sql import changed_row, insert_row, read_row
from ai_assistant.models.run import Run, SentFields
from ai_assistant.types import UserKey

OWN = "owner_id = %s AND deleted_at IS NULL AND parent_call_id IS NULL"


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Conversations, and whose they are."""

    def own(self, user_id: UserKey) -> Self:
        """
        Return those that a user has: a deleted one is gone, for the user too.

        One of an agent that was asked belongs to its call.
        """
        return self.filter(owner_id=user_id, deleted_at=None, parent_call=None)

    def read_own(self, user_id: UserKey, **named: Any) -> "Conversation | None":
        """Return the one of these with a `pk` or a `thread_id`; asked for each message."""
        return read_row(Conversation, *_own(user_id, named))

    def use_own(
        self, user_id: UserKey, *, is_read: bool, **named: Any
    ) -> "Conversation | None":
        """
        Return that one, used now, and read; it stays locked.

        A write comes first: it takes the lock, and two simultaneous messages queue up.
        """
        now, moment = time_sql()
        used = ["updated_at", "read_at"] if is_read else ["updated_at"]
        to = ", ".join(f"{column} = {now}" for column in used)
        where, arguments = _own(user_id, named)
        return changed_row(Conversation, to, where, [*moment * len(used), *arguments])

    def lock_row(self) -> bool:
        """
        Lock the rows until the transaction ends; return whether there are any.

        By a write that changes nothing: SQLite has no lock of a row, and a transaction
        that begins with a read may lose what it has read to another one.
        """
        return bool(self.update(title=models.F("title")))


def _own(user_id: UserKey, named: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return what `own` and `filter` say, as SQL, and its arguments."""
    (name, value), *_none = named.items()
    fields: Any = Conversation._meta
    field = fields.pk if name == "pk" else fields.get_field(name)
    owner = fields.get_field("owner").get_db_prep_value(user_id, connection)
    own = [owner, field.get_db_prep_value(value, connection)]
    return f"{OWN} AND {field.column} = %s", own


class Conversation(models.Model):
    """All messages of one user about one matter."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="assistant_conversations",
        verbose_name=_("owner"),
        db_index=False,
    )
    title = models.CharField(_("title"), max_length=200, blank=True)
    # A client's own name for it, where that is not the id.
    thread_id = models.CharField(max_length=200, blank=True, editable=False)
    # The call of another agent that has asked for it: it is hidden, and goes with it.
    parent_call = models.OneToOneField(
        "ai_assistant.ToolCall",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="child_conversation",
    )
    is_renamed = models.BooleanField(default=False)  # by a person: no other title then
    # The last run of the branch that is shown; without one the newest of all.
    shown_run = models.ForeignKey(
        "ai_assistant.Run",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)
    updated_at = DatabaseTimeField(_("last used"), auto_now=True)
    read_at = models.DateTimeField(_("read"), null=True, blank=True)  # by the owner
    pinned_at = models.DateTimeField(_("pinned"), null=True, blank=True)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    # Gone for its owner; the row follows when the time to undo it is over.
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True)
    summaries = models.PositiveIntegerField(
        default=0, editable=False
    )  # how many were made or taken back: a page sees that there is another

    # Its title or first question, on a page for who may know it; see `__str__`.
    asked = ""

    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ("-updated_at",)
        indexes = (
            models.Index(fields=["owner", "-updated_at"]),
            # Of all users: a search ends when it has found enough of the newest.
            models.Index(fields=["-updated_at"], name="aia_conversation_used"),
            # For the search for rows that can no longer be restored: they are few.
            models.Index(
                fields=["deleted_at"],
                condition=models.Q(deleted_at__isnull=False),
                name="aia_conversation_deleted",
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=["owner", "thread_id"],
                condition=~models.Q(thread_id=""),
                name="aia_conversation_thread",
            ),
        )
        permissions = (
            ("view_assistant", _("Can view the assistant and own history")),
            ("use_assistant", _("Can ask the assistant and answer it")),
            ("undo_changes", _("Can undo what the assistant changed for others")),
            ("share_conversation", _("Can share own conversations with others")),
            ("view_shared_conversations", _("Can read conversations shared by others")),
        )

    def __str__(self) -> str:
        # Django draws it for others too, as on the page that deletes the user.
        return self.asked or gettext("Conversation of %(time)s") % {
            "time": time_text(self.created_at)
        }

    @property
    def open_link(self) -> Any:
        """The Share by which others may read it now; None if there is none."""
        link = getattr(self, "share", None)
        return None if link is None or link.is_expired else link


NEXT_POSITION = """
(SELECT COALESCE(MAX(position) + 1, 0) FROM ai_assistant_message
 WHERE conversation_id = %s)
"""


class MessageManager(models.Manager["Message"]):
    """Messages; `append` gives a new one its position."""

    def questions(self) -> models.QuerySet["Message"]:
        """Return the messages that runs answer: what is said meanwhile is none."""
        said = Message.objects.filter(run=models.OuterRef("run"), role="user")
        first = said.order_by("position").values("pk")[:1]
        return self.filter(pk=models.Subquery(first))

    def append(self, message: "Message") -> None:
        """
        Store a message at the end of its conversation.

        Its place is found by the statement itself; the object does not get it.
        """
        field = message._meta.get_field("conversation")
        key = field.get_db_prep_save(message.conversation_id, connection=connection)
        insert_row(message, {"position": (NEXT_POSITION, [key])})


COMMAND_KEYS = ("name", "arguments", "label", "near")  # of what a message keeps of it


class Message(models.Model):
    """
    One entry of a conversation: a role and ordered parts.

    A summary stands for the messages up to `sums_up_to` of its run and of those before
    it, which stay. A user's message has one text part, with the `command` that it is. An assistant's message is one model call;
    its parts are reasoning, text and the ids of its tool calls, in order.
    """

    class Role(models.TextChoices):
        USER = "user", _("user")
        ASSISTANT = "assistant", _("assistant")
        SUMMARY = "summary", _("summary")  # of what stands above, by a model

    class Origin(models.TextChoices):
        """Who wrote a user's message."""

        PERSON = "person", _("the person")
        APP = "app", _("the assistant's own page")  # the words of a button
        HOOK = "hook", _("code of the site")  # another round that a hook asked for
        CODE = "code", _("code of the site")  # that has started the run
        AGENT = "agent", _("another agent")  # that has asked this one

    class Label(models.TextChoices):
        """What the words of a user's message may cause; see types.Label."""

        SITE = "site", _("words of the site")
        DATA = "data", _("data")
        USER = "user", _("words of the user")

    class State(models.TextChoices):
        COMPLETE = "complete", _("complete")
        INTERRUPTED = "interrupted", _("stopped")
        FAILED = "failed", _("cut off")
        UNDONE = "undone", _("taken back")  # a summary, by the person

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages", db_index=False
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="messages")
    position = models.PositiveIntegerField()  # 0-based within the conversation
    role = models.CharField(max_length=16, choices=Role)
    origin = models.CharField(max_length=16, choices=Origin, default=Origin.PERSON)
    label = models.CharField(max_length=8, choices=Label, default=Label.USER)
    state = models.CharField(max_length=16, choices=State, default=State.COMPLETE)
    parts = models.JSONField(default=list)
    # Of a summary: the position of the last message that it stands for.
    sums_up_to = models.PositiveIntegerField(null=True, blank=True)
    key = models.CharField(max_length=64, blank=True)  # of a send; makes it idempotent
    # A client's own id of the message, where that is not the primary key.
    client_id = models.CharField(max_length=200, blank=True)
    created_at = DatabaseTimeField(auto_now_add=True)

    objects = MessageManager()

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ("conversation", "position")
        indexes = (models.Index(fields=["key"], name="aia_message_key_idx"),)
        constraints = (
            models.UniqueConstraint(
                fields=["conversation", "position"], name="aia_message_position"
            ),
            models.UniqueConstraint(
                fields=["conversation", "key"],
                condition=~models.Q(key=""),
                name="aia_message_key",
            ),
        )

    def __str__(self) -> str:
        return f"{self.role} {self.position}"

    @classmethod
    def said(
        cls,
        run: Run,
        key: str,
        text: str,
        command: Mapping[str, Any] | None = None,
        *,
        label: str = Label.USER,
    ) -> Self:
        """
        Return what a person says to a run, or code of the site; not stored yet.

        The text of a command is what it stands for; what was typed is kept beside it.
        """
        part: dict[str, Any] = {"type": "text", "text": text}
        if command:
            kept = {name: command[name] for name in COMMAND_KEYS}
            part["text"] = command["prompt"] or text
            part["command"] = {**kept, "typed": text}
        return cls(
            conversation_id=run.conversation_id,
            run=run,
            key=key,
            role=cls.Role.USER,
            origin=cls.Origin.PERSON if label == cls.Label.USER else cls.Origin.CODE,
            label=label,
            parts=[part],
        )

    @property
    def text(self) -> str:
        """The text of the message, without reasoning and calls."""
        return text_of(self.parts)

    @property
    def command(self) -> dict[str, Any]:
        """The command that a person has sent, empty without one; see SentCommand."""
        return self.parts[0].get("command", {}) if self.parts else {}

    @property
    def typed(self) -> str:
        """What a person has typed: of a command its line, else the text."""
        return str(self.command.get("typed", self.text))


def text_of(parts: list[dict[str, Any]]) -> str:
    """Return the text of a message's parts, without reasoning and calls."""
    return "".join(part["text"] for part in parts if part["type"] == "text")


class Feedback(models.Model):
    """A person's rating of an answer."""

    class Value(models.TextChoices):
        UP = "up", _("good")
        DOWN = "down", _("bad")

    class Reason(models.TextChoices):
        WRONG = "wrong", _("Not right")
        INCOMPLETE = "incomplete", _("Not complete")
        UNASKED = "unasked", _("Not what I asked")
        SLOW = "slow", _("Too slow")
        LONG = "long", _("Too long")

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="feedback", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("user"),
    )
    value = models.CharField(_("value"), max_length=4, choices=Value)
    reasons = models.JSONField(_("reasons"), default=list, blank=True)
    text = models.TextField(_("comment"), blank=True)
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("feedback")
        verbose_name_plural = _("feedback")
        ordering = ("-created_at",)
        constraints = (
            models.UniqueConstraint(fields=["run", "user"], name="aia_feedback_one"),
        )

    def __str__(self) -> str:
        return f"{self.get_value_display()} {time_text(self.created_at)}"


class QueuedMessageManager(models.Manager["QueuedMessage"]):
    """Queued messages, in the order of their conversation."""

    def sent_as(self, user_id: UserKey, key: str) -> "QueuedMessage | None":
        """Return the message that a user sent with that key, also if it was dropped."""
        return self.filter(user_id=user_id, key=key).first()

    def waiting_in(
        self, conversation_id: uuid.UUID
    ) -> models.QuerySet["QueuedMessage"]:
        """Return the queued messages of a conversation, the next one first."""
        rows = self.filter(conversation_id=conversation_id, dropped_at=None)
        return rows.order_by("position")

    def told_to(self, run: Run) -> models.QuerySet["QueuedMessage"]:
        """Return the queued messages that an active run reads in its next step."""
        return self.waiting_in(run.conversation_id).filter(told_run=run.pk)

    def append(self, queued: "QueuedMessage") -> None:
        """Store a message behind the others of its conversation."""
        rows = self.filter(conversation_id=queued.conversation_id)
        last = rows.aggregate(last=models.Max("position"))["last"]
        queued.position = 0 if last is None else last + 1
        queued.save(force_insert=True)


class QueuedMessage(SentFields):
    """
    A message that waits for the end of a run; see `ai_assistant.engine.lifecycle.queue`.

    All that a send says is kept, so that its run starts as if it were sent then. The
    row goes when the run is there; a dropped one stays a while, without its words, so
    that a repeat of its request adds nothing.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="queued", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    key = models.CharField(max_length=64)  # of the send; makes it idempotent
    position = models.PositiveIntegerField()  # within the conversation, with gaps
    text = models.TextField()  # as it was typed
    command = models.JSONField(default=dict, blank=True)  # see SentCommand
    label = models.CharField(
        max_length=8, choices=Message.Label, default=Message.Label.USER
    )

    # The run that is to read it in its next step; see `ai_assistant.engine.lifecycle.steering`.
    told_run = models.UUIDField(null=True, blank=True)
    held = models.CharField(max_length=64, blank=True)  # the code of why it was refused
    dropped_at = models.DateTimeField(null=True, blank=True)
    created_at = DatabaseTimeField(auto_now_add=True)

    objects = QueuedMessageManager()

    class Meta:
        verbose_name = _("queued message")
        verbose_name_plural = _("queued messages")
        ordering = ("conversation", "position")
        indexes = (
            models.Index(
                fields=["conversation", "position"], name="aia_queued_position"
            ),
            models.Index(
                fields=["created_at", "id"],
                condition=models.Q(dropped_at=None),
                name="aia_queued_time",
            ),
        )
        constraints = (
            models.UniqueConstraint(fields=["user", "key"], name="aia_queued_key"),
        )

    def __str__(self) -> str:
        return f"{self.position} of {self.conversation_id}"
