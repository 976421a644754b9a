"""Secrets that let somebody in, of which only a digest is stored."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models import clock
from ai_assistant.models.clock import DatabaseTimeField
from ai_assistant.models.conversation import Conversation


class AccessToken(models.Model):
    """
    Lets a program act as its user, within its scopes.

    Only a digest of the secret is stored; `prefix` lets a person tell tokens apart.
    A revoked token stays as a row, so that it is known what it was used for.
    """

    class Scope(models.TextChoices):
        READ = "read", _("read conversations, runs and changes")
        RUN = "run", _("start and stop runs")
        APPROVE = "approve", _("approve, deny and answer")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="assistant_tokens",
        verbose_name=_("user"),
    )
    name = models.CharField(_("name"), max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    prefix = models.CharField(_("begins with"), max_length=16, editable=False)
    scopes = models.JSONField(_("may"), default=list)
    # Of what changes with the password: then the token is not good any more.
    password_digest = models.CharField(max_length=64, blank=True, editable=False)
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(
        _("last used"), null=True, blank=True, editable=False
    )
    # Somebody has sent it when it was not good any more.
    refused_at = models.DateTimeField(
        _("last refused"), null=True, blank=True, editable=False
    )
    revoked_at = models.DateTimeField(
        _("revoked"), null=True, blank=True, editable=False
    )

    class Meta:
        verbose_name = _("access token")
        verbose_name_plural = _("access tokens")
        ordering = ("-created_at",)
        permissions = (
            ("manage_accesstoken", _("Can manage the access tokens of others")),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= clock.now()


class Share(models.Model):
    """
    The link under which colleagues may read a conversation: one a conversation.

    Its end is the end of the row. Who may read is asked each time the link is opened.
    """

    conversation = models.OneToOneField(
        Conversation, primary_key=True, on_delete=models.CASCADE, related_name="share"
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)

    class Meta:
        verbose_name = _("shared conversation")
        verbose_name_plural = _("shared conversations")
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.conversation_id)

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= clock.now()
