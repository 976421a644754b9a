import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ai_assistant.models.clock import DatabaseTimeField, time_text


class ChangeSetManager(models.Manager["ChangeSet"]):
    """Changes without the snapshots of modules, which may be large."""

    def get_queryset(self) -> models.QuerySet["ChangeSet"]:
        return super().get_queryset().defer("snapshots")


class ChangeSet(models.Model):
    """
    The changes of one tool call, or of one undo, with images to undo them.

    It is written in the transaction of the change itself. `is_partial` says that
    something happened of which there is no image; `gaps` says what.

    It outlives its conversation: without run and call it still says who, when, with
    which tool, and what. Nothing that was said is in it. It goes with its user.
    """

    class Kind(models.TextChoices):
        CALL = "call", _("change of a call")
        UNDO = "undo", _("undo")
        REDO = "redo", _("redo")  # the undo of an undo

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(
        _("kind"), max_length=8, choices=Kind, default=Kind.CALL, editable=False
    )
    run = models.ForeignKey(
        "ai_assistant.Run",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="change_sets",
        verbose_name=_("run"),
    )
    call = models.ForeignKey(
        "ai_assistant.ToolCall",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="change_sets",
        verbose_name=_("tool call"),
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("user"),
    )
    tool = models.CharField(_("tool"), max_length=200, blank=True)
    label = models.CharField(max_length=200, blank=True)  # of the tool
    is_partial = models.BooleanField(_("partial"), default=False)
    gaps = models.JSONField(_("gaps"), default=list, blank=True)  # of {table, kind}
    # Of modules, see `engine.snapshots`: a list of {module, page, model, object_id, text,
    # before: what the module took, after: its digest after the change}; or None.
    snapshots = models.JSONField(null=True, editable=False)
    created_at = DatabaseTimeField(_("time"), auto_now_add=True)

    objects = ChangeSetManager()

    class Meta:
        verbose_name = _("change")
        verbose_name_plural = _("changes")
        ordering = ("created_at",)
        indexes = (models.Index(fields=["created_at"], name="aia_change_time"),)

    def __str__(self) -> str:
        return f"{self.label or self.tool} {time_text(self.created_at)}"


class RowChangeQuerySet(models.QuerySet["RowChange"]):
    """Changed rows, and whether their images are kept."""

    def with_images(self) -> Self:
        """Return those that have an image."""
        return self.exclude(before__isnull=True, after__isnull=True)


class RowChange(models.Model):
    """
    One row as it was and as it became.

    An image is a dict of all concrete fields by attname, in JSON; None where there
    is no row. The images of a many-to-many row hold its two keys. A row without both
    has lost them: it is too old to be undone.
    """

    class Kind(models.TextChoices):
        CREATE = "create", _("created")
        UPDATE = "update", _("changed")
        DELETE = "delete", _("deleted")
        M2M_ADD = "m2m_add", _("link added")
        M2M_REMOVE = "m2m_remove", _("link removed")

    change_set = models.ForeignKey(
        ChangeSet, on_delete=models.CASCADE, related_name="rows"
    )
    order = models.PositiveIntegerField()  # in which they happened, 0-based
    alias = models.CharField(max_length=100, default="default")  # of the database
    model = models.CharField(_("model"), max_length=200)  # app.model
    object_id = models.CharField(_("object id"), max_length=255)
    text = models.CharField(_("object"), max_length=200, blank=True)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    fields = models.JSONField(default=list, blank=True)  # attnames that differ
    undone_by = models.ForeignKey(
        ChangeSet,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="undone_rows",
    )

    old_files: list["FileChange"]  # of rows that an undo has read, see FILES

    objects = RowChangeQuerySet.as_manager()

    class Meta:
        verbose_name = _("changed row")
        verbose_name_plural = _("changed rows")
        ordering = ("change_set", "order")
        indexes = (models.Index(fields=["model", "object_id"], name="aia_row_object"),)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.model} {self.object_id}"

    @property
    def has_images(self) -> bool:
        """Whether the images of the row are kept."""
        return self.before is not None or self.after is not None


class FileChange(models.Model):
    """A file of a changed row, of which the old content is stashed."""

    row = models.ForeignKey(RowChange, on_delete=models.CASCADE, related_name="files")
    field = models.CharField(max_length=100)
    sha256_before = models.CharField(max_length=64, blank=True)
    sha256_after = models.CharField(max_length=64, blank=True)
    stash = models.CharField(max_length=500, blank=True)  # empty: not kept

    class Meta:
        verbose_name = _("changed file")
        verbose_name_plural = _("changed files")

    def __str__(self) -> str:
        return f"{self.field} of {self.row_id}"


class UndoStop(models.Model):
    """
    A request to stop the undo of a change, until another undo of it begins.

    A row of its own, as `StopRequest` is: that of the change is locked while it is undone.
    """

    change_set = models.OneToOneField(
        ChangeSet,
        primary_key=True,
        db_constraint=False,
        on_delete=models.CASCADE,
        related_name="+",
    )
    asked_at = DatabaseTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.change_set_id} at {self.asked_at}"
