"""What owners of a site add to what its code registers, and what people have it remember."""

from typing import Any, Self
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant import conf
from ai_assistant.models.clock import DatabaseTimeField, time_text
from ai_assistant.registry import registry
from ai_assistant.types import COMMAND_CHARS, INSTRUCTION_CHARS, NAME, SKILL_CHARS

NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
MEMORY_CHARS = 500
is_name = RegexValidator(
    NAME, _("Use lower-case letters, digits and single hyphens: weekly-report.")
)


class ImportedRow(models.Model):
    """A row that may have come from a file, by `manage.py assistant_config`."""

    # The name of the file, until somebody changes the row by hand.
    imported_from = models.CharField(
        _("from the file"), max_length=200, blank=True, editable=False
    )

    class Meta:
        abstract = True


class ConfigurationRow(ImportedRow):
    """
    A row of configuration, and where it applies; empty means everywhere.

    One with the name of something that code registers takes its place, or switches
    it off.
    """

    name = models.CharField(_("name"), max_length=NAME_CHARS, validators=[is_name])
    is_active = models.BooleanField(_("active"), default=True)
    module = models.CharField(_("module"), max_length=100, blank=True)
    model = models.CharField(_("model or app"), max_length=200, blank=True)
    view = models.CharField(_("view"), max_length=200, blank=True)
    group = models.ForeignKey(
        Group, null=True, blank=True, on_delete=models.CASCADE, verbose_name=_("group")
    )
    language = models.CharField(_("language"), max_length=20, blank=True)
    priority = models.SmallIntegerField(_("priority"), default=0)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """Validate and save the row."""
        self.full_clean()
        super().save(*args, **options)


class Instruction(ConfigurationRow):
    """Words of the site for the model, wherever they apply."""

    text = models.TextField(_("text"), max_length=INSTRUCTION_CHARS)

    class Meta:
        verbose_name = _("instruction")
        verbose_name_plural = _("instructions")
        constraints = (
            models.UniqueConstraint(fields=["name"], name="aia_instruction_name"),
        )


class Skill(ConfigurationRow):
    """A procedure that the model reads when it needs it."""

    description = models.CharField(_("description"), max_length=DESCRIPTION_CHARS)
    body = models.TextField(_("body"), max_length=SKILL_CHARS)
    allowed_tools = models.TextField(_("allowed tools"), max_length=2000, blank=True)

    class Meta:
        verbose_name = _("skill")
        verbose_name_plural = _("skills")
        constraints = (models.UniqueConstraint(fields=["name"], name="aia_skill_name"),)


class PromptCommand(ConfigurationRow):
    """
    A prompt that is sent by its name: the site's, a group's, or one person's.

    Only the site's and a group's words are words of the site.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("owner"),
    )
    description = models.CharField(
        _("description"), max_length=DESCRIPTION_CHARS, blank=True
    )
    text = models.TextField(_("text"), max_length=COMMAND_CHARS)
    arguments = models.JSONField(
        _("arguments"), default=dict, blank=True
    )  # JSON Schema

    class Meta:
        verbose_name = _("prompt command")
        verbose_name_plural = _("prompt commands")
        constraints = (
            models.UniqueConstraint(fields=["name", "owner"], name="aia_command_name"),
            # `nulls_distinct` would say the same, but SQLite knows nothing of it.
            models.UniqueConstraint(
                fields=["name"],
                condition=models.Q(owner=None),
                name="aia_command_name_of_site",
            ),
        )


class Suggestion(ConfigurationRow):
    """A next prompt: a text, a `/command`, or the path of a page to open."""

    label = models.CharField(_("label"), max_length=200)
    text = models.CharField(_("text"), max_length=2000, blank=True)
    path = models.CharField(_("page to open"), max_length=500, blank=True)

    class Meta:
        verbose_name = _("suggestion")
        verbose_name_plural = _("suggestions")
        constraints = (
            models.UniqueConstraint(fields=["name"], name="aia_suggestion_name"),
        )

    def clean(self) -> None:
        """Reject a path that leads elsewhere."""
        if self.path and (not self.path.startswith("/") or self.path[1:2] in "/\\"):
            sentence = gettext("“%(path)s” is no page of this site. Begin with “/”.")
            raise ValidationError({"path": sentence % {"path": self.path}})


class Agent(ConfigurationRow):
    """A named configuration that a conversation uses; see `ai_assistant.agent`."""

    label = models.CharField(_("label"), max_length=100, blank=True)
    description = models.CharField(
        _("description"), max_length=DESCRIPTION_CHARS, blank=True
    )
    text = models.TextField(_("instructions"), max_length=INSTRUCTION_CHARS, blank=True)
    profile = models.CharField(_("profile"), max_length=100, blank=True)
    reasoning = models.CharField(_("reasoning"), max_length=20, blank=True)
    modules = models.TextField(_("modules"), max_length=2000, blank=True)
    tools = models.TextField(_("tools"), max_length=2000, blank=True)
    steps = models.PositiveSmallIntegerField(_("steps"), null=True, blank=True)
    run_s = models.FloatField(
        _("running time in seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
    )
    loop = models.CharField(_("loop"), max_length=100, blank=True)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        constraints = (models.UniqueConstraint(fields=["name"], name="aia_agent_name"),)

    def clean(self) -> None:
        """Reject a profile and a loop that the site does not have."""
        known = {"profile": conf.profiles(), "loop": registry.parts("loop")}
        sentence = gettext("There is no “%(name)s”. There are: %(known)s.")
        wrong = {
            field: sentence % {"name": name, "known": ", ".join(sorted(names))}
            for field, names in known.items()
            if (name := getattr(self, field)) and name not in names
        }
        if wrong:
            raise ValidationError(wrong)


is_slug = RegexValidator(
    r"^[-a-zA-Z0-9_]+\Z", _("Use letters, digits, hyphens and underscores.")
)
seconds: dict[str, Any] = {
    "null": True,
    "blank": True,
    "validators": [MinValueValidator(1)],
}
price: dict[str, Any] = {
    "null": True,
    "blank": True,
    "max_digits": 12,
    "decimal_places": 6,
    "validators": [MinValueValidator(0)],
}


class Profile(ImportedRow):
    """
    A model profile. One with the name of a setting's takes its place, or switches it off.

    The key is encrypted, together with where it may be sent: `configuration.profiles`
    reads and writes it.
    """

    name = models.CharField(_("name"), max_length=100, validators=[is_slug])
    is_active = models.BooleanField(_("active"), default=True)
    label = models.CharField(_("label"), max_length=100, blank=True)
    provider = models.CharField(_("provider"), max_length=20, blank=True)
    model = models.CharField(_("model"), max_length=200)
    api_base = models.CharField(_("base URL"), max_length=500, blank=True)
    api_key_env = models.CharField(
        _("environment variable of the key"), max_length=100, blank=True
    )
    api_key_encrypted = models.TextField(blank=True, editable=False)
    reasoning = models.CharField(_("reasoning"), max_length=20, blank=True)
    window_tokens = models.PositiveIntegerField(
        _("context window in tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
    )
    first_byte_s = models.FloatField(_("seconds to the first word"), **seconds)
    idle_s = models.FloatField(_("seconds of silence"), **seconds)
    model_call_s = models.FloatField(_("seconds for a whole call"), **seconds)
    fallback = models.CharField(_("fallback"), max_length=100, blank=True)
    input_usd_per_mtok = models.DecimalField(
        _("US dollars for a million tokens of input"), **price
    )
    output_usd_per_mtok = models.DecimalField(
        _("US dollars for a million tokens of output"), **price
    )
    options = models.JSONField(_("options"), default=dict, blank=True)

    class Meta:
        verbose_name = _("model profile")
        verbose_name_plural = _("model profiles")
        constraints = (
            models.UniqueConstraint(fields=["name"], name="aia_profile_name"),
        )

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        """Validate and save the row."""
        self.full_clean()
        super().save(*args, **options)

    @property
    def destination(self) -> str:
        """Where requests go: scheme, host and port, or whose server the model string means."""
        if not self.api_base:
            return self.model.partition("/")[0].lower()
        parts = urlsplit(self.api_base)
        port = parts.port or {"http": 80}.get(parts.scheme, 443)
        return f"{parts.scheme}://{parts.hostname}:{port}"


class ConfigurationVersion(models.Model):
    """A random number, another one after each change of configuration; one row."""

    number = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = _("configuration version")
        verbose_name_plural = _("configuration versions")

    def __str__(self) -> str:
        return str(self.number)


class ConfigurationFile(ConfigurationVersion):
    """What import and export are registered by in the admin; no table of its own."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("configuration file")
        verbose_name_plural = _("import and export")


class MemoryQuerySet(models.QuerySet["Memory"]):
    """Memories, and for whom they are."""

    def for_user(self, user: Any) -> Self:
        """Return what is in use of a user's own, and of all groups and of everyone."""
        own_or_shared = models.Q(owner=user) | models.Q(owner=None)
        return self.filter(own_or_shared, is_active=True).select_related("group")


class Memory(ImportedRow):
    """
    A sentence that is in the prompt of whom it is for.

    Of an `owner`, else of a `group`, else of everyone. The words are the person's own
    (`user`) only if they typed them; to all others they are `data`.
    """

    class Words(models.TextChoices):
        """Whose words a memory has."""

        USER = "user", _("typed by the author")
        DATA = "data", _("written by the assistant")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        verbose_name=_("owner"),
    )
    group = models.ForeignKey(
        Group, null=True, blank=True, on_delete=models.CASCADE, verbose_name=_("group")
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name=_("author"),
    )
    text = models.CharField(_("text"), max_length=MEMORY_CHARS)
    words = models.CharField(
        _("words"),
        max_length=4,
        choices=Words,
        default=Words.DATA,
        editable=False,
    )
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("Otherwise it is kept, but not used.")
    )
    created_at = DatabaseTimeField(_("created"), auto_now_add=True)

    shown = ""  # the words of a person's own, on their page; see `__str__`

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        if self.owner_id is None:
            return self.text
        # Django draws and logs it for others too, as where the user is deleted.
        return self.shown or gettext("Memory of %(time)s") % {
            "time": time_text(self.created_at)
        }

    def label_for(self, user_id: Any) -> str:
        """Return the label of its words for a user: `data`, unless they typed them."""
        is_own = self.author_id == user_id
        return str(self.words) if is_own else str(Memory.Words.DATA)
