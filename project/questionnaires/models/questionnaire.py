import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from project.questionnaires.fields import RevisionField
from project.questionnaires.validators import validate_language, validate_languages


def default_languages() -> list[str]:
    return ["en"]


class Questionnaire(models.Model):
    """A set of questions in sections, which people answer on a schedule."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        PUBLISHED = "published", _("published")
        ARCHIVED = "archived", _("archived")

    uuid = models.UUIDField("UUID", default=uuid.uuid4, unique=True, editable=False)
    title = models.CharField(_("title"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    status = models.CharField(
        _("status"),
        max_length=10,
        choices=Status,
        default=Status.DRAFT,
        db_index=True,
    )
    default_language = models.CharField(
        _("default language"),
        max_length=6,
        default="en",
        validators=[validate_language],
    )
    languages = models.JSONField(
        _("languages"), default=default_languages, validators=[validate_languages]
    )
    revision = RevisionField(_("revision"), default=1, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="questionnaires",
        verbose_name=_("owner"),
    )

    class Meta:
        verbose_name = _("questionnaire")
        verbose_name_plural = _("questionnaires")
        ordering = ("title", "pk")

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Refuse a default language that the questionnaire does not have."""
        languages = self.languages
        if isinstance(languages, list) and self.default_language not in languages:
            raise ValidationError(
                {"default_language": _("Choose one of the languages listed.")}
            )

    def bump_revision(self) -> None:
        """Count one more committed change, also if another one runs beside it."""
        Questionnaire.objects.filter(pk=self.pk).update(revision=F("revision") + 1)
        self.refresh_from_db(fields=["revision"])
