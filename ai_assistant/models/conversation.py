import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField
from ai_assistant.types import UserKey


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Conversations, and whose they are."""

    def own(self, user_id: UserKey) -> Self:
        """Return those that a user has: a deleted one is gone, for the user too."""
        return self.filter(owner_id=user_id, deleted_at=None)


class Conversation(models.Model):
    """All messages of one user about one matter."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="assistant_conversations",
        verbose_name=_("owner"),
    )
    title = models.CharField(_("title"), max_length=200, blank=True)
    # A client's own name for it, where that is not our id.
    thread_id = models.CharField(
        max_length=200, blank=True, default="", db_default="", editable=False
    )
    # By a person: no other title then.
    is_renamed = models.BooleanField(default=False, db_default=False)
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

    objects = ConversationQuerySet.as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ("-updated_at",)
        indexes = (
            models.Index(fields=["owner", "-updated_at"]),
            # For the look for what nobody can take back any more: rows are few.
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
            ("view_assistant", _("Can see the assistant and the own history")),
            ("use_assistant", _("Can ask the assistant and answer it")),
        )

    def __str__(self) -> str:
        return self.title or str(self.id)


class Message(models.Model):
    """
    One entry of a conversation: a role and ordered parts.

    A user's message has one text part. An assistant's message is one model call;
    its parts are reasoning, text and the ids of its tool calls, in order.
    """

    class Role(models.TextChoices):
        USER = "user", _("user")
        ASSISTANT = "assistant", _("assistant")

    class State(models.TextChoices):
        COMPLETE = "complete", _("complete")
        INTERRUPTED = "interrupted", _("stopped")
        FAILED = "failed", _("cut off")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    run = models.ForeignKey(
        "ai_assistant.Run", on_delete=models.CASCADE, related_name="messages"
    )
    position = models.PositiveIntegerField()  # 0-based within the conversation
    role = models.CharField(max_length=16, choices=Role)
    state = models.CharField(max_length=16, choices=State, default=State.COMPLETE)
    parts = models.JSONField(default=list)
    step_index = models.PositiveIntegerField(null=True, blank=True)
    key = models.CharField(max_length=64, blank=True)  # of a send; makes it idempotent
    # A client's own id of the message, where that is not ours.
    client_id = models.CharField(max_length=200, blank=True, default="", db_default="")
    created_at = DatabaseTimeField(auto_now_add=True)

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

    @property
    def text(self) -> str:
        """The text of the message, without reasoning and calls."""
        return "".join(part["text"] for part in self.parts if part["type"] == "text")
