"""The rows with which owners of a site add to what its code registers."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin import widgets
from django.contrib.messages import ERROR
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.admin.base import RowForm
from ai_assistant.admin.lists.decorated import in_brief
from ai_assistant.admin.rows.preview import PreviewedAdmin, TriedCommandAdmin
from ai_assistant.models.configuration import (
    Agent,
    ConfigurationRow,
    Instruction,
    PromptCommand,
    Skill,
    Suggestion,
)
from ai_assistant.registry import registry

WHERE = ("model", "view", "module", "group", "language")
HELP = {
    "name": gettext_lazy(
        "Lower-case letters, digits and hyphens. With the name of one that an app has, "
        "this takes its place."
    ),
    "model": gettext_lazy("“shop.order” or “shop”. Empty: all pages."),
    "view": gettext_lazy(
        "changelist, add, change, delete, history, or a pattern: “admin:shop_*”."
    ),
    "module": gettext_lazy("The id of a module: only on its pages. Empty: all pages."),
    "group": gettext_lazy("For members of this group only. Empty: everybody."),
    "language": gettext_lazy("“de”, with its variants. Empty: all languages."),
    "priority": gettext_lazy("What is higher goes first where not all fit."),
    "allowed_tools": gettext_lazy(
        "Names separated by spaces. Once it is read, only these tools are left."
    ),
    "profile": gettext_lazy("A model profile. Empty: as without the agent."),
    "reasoning": gettext_lazy(
        "minimal, low, medium, high, or a number of tokens such as 8000. Empty: as the "
        "profile has it."
    ),
    "modules": gettext_lazy(
        "Ids separated by spaces, “*” for anything. Elsewhere it works without a module."
    ),
    "tools": gettext_lazy(
        "Names separated by spaces, “*” for anything. Empty: all that the user has."
    ),
    "steps": gettext_lazy("Of one answer. Empty: as the site has it."),
    "run_s": gettext_lazy("Of one answer. Empty: as the site has it."),
    "loop": gettext_lazy("A loop that an app registers. Empty: the built-in one."),
    "arguments": gettext_lazy("A JSON schema. Empty: the rest of the line."),
    "text": gettext_lazy("What is sent. Empty: the label."),
    "path": gettext_lazy("Begins with “/”. It is opened instead of sending a text."),
}


class NamesInput(widgets.AdminTextInputWidget):
    """Names on one line: a file may have them on several, which a browser would join."""

    def format_value(self, value: Any) -> str | None:
        """Return the names, a space between each."""
        return " ".join(str(value).split()) if value else None


class ConfigurationAdmin(PreviewedAdmin):
    """What rows of configuration have in common: what they say, and where it applies."""

    form = RowForm
    words: ClassVar[tuple[str, ...]] = ()  # the fields of what it says
    kind = ""  # of the registry
    list_filter = ("is_active", "group")
    list_select_related = ("group",)
    search_fields = ("name", *WHERE[:3])
    ordering = ("name", "pk")
    actions = ("switch_on", "switch_off")
    save_as = True

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """Return the columns."""
        return (
            "name",
            *(in_brief(self.opts.get_field(name)) for name in self.words[:1]),
            "model",
            "view",
            "group",
            "is_active",
            "origin",
            "changed",
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return what it says, and where it applies."""
        return (
            (None, {"fields": ("name", *self.words, "is_active")}),
            (_("Where it applies"), {"fields": (*WHERE, "priority")}),
        )

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Say what belongs into each field."""
        kwargs.setdefault("help_text", HELP.get(db_field.name, ""))
        if db_field.name == "description":
            kwargs["widget"] = widgets.AdminTextareaWidget(attrs={"rows": 3})
        if db_field.name in {"allowed_tools", "tools", "modules"}:
            kwargs["widget"] = NamesInput
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    @admin.action(description=gettext_lazy("Switch on"), permissions=["change"])
    def switch_on(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        """Let the chosen rows apply."""
        self._switch(request, rows, is_active=True)

    @admin.action(description=gettext_lazy("Switch off"), permissions=["change"])
    def switch_off(self, request: HttpRequest, rows: QuerySet[Any]) -> None:
        """Let the chosen rows apply nowhere."""
        self._switch(request, rows, is_active=False)

    def _switch(
        self, request: HttpRequest, rows: QuerySet[Any], *, is_active: bool
    ) -> None:
        active: Any = self.opts.get_field("is_active")
        label = str(active.verbose_name)
        for row in rows.exclude(is_active=is_active):
            row.is_active, row.imported_from = is_active, ""
            try:
                row.save()
            except ValidationError as error:  # wrong by now, as a profile that is gone
                sentence = f"{row}: {' '.join(error.messages)}"
                self.message_user(request, sentence, ERROR)
                continue
            self.log_change(request, row, [{"changed": {"fields": [label]}}])

    @admin.display(description=gettext_lazy("takes the place of"))
    def origin(self, row: ConfigurationRow) -> str:
        """Return the app whose part of this name the row replaces."""
        part = registry.parts(self.kind).get(row.name)
        return str(part.origin) if part else ""


@admin.register(Instruction)
class InstructionAdmin(ConfigurationAdmin):
    """Words of the site for the model."""

    words = ("text",)
    kind = "instruction"
    when_empty = gettext_lazy(
        "No instruction was added here yet. One tells the model what to know or to "
        "heed, on all pages or on some."
    )
    markdown = ("text",)

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Leave the text without the help that suggestions have."""
        if db_field.name == "text":
            kwargs["help_text"] = _(
                "Plain sentences. It is in the prompt of each step."
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)


@admin.register(Skill)
class SkillAdmin(ConfigurationAdmin):
    """Procedures that the model reads when it needs them."""

    words = ("description", "body", "allowed_tools")
    kind = "skill"
    when_empty = gettext_lazy(
        "No skill was added here yet. One says how something is done; the model "
        "reads it when it needs it."
    )
    markdown = ("body",)


@admin.register(PromptCommand)
class PromptCommandAdmin(TriedCommandAdmin, ConfigurationAdmin):
    """Prompts that are sent by their name: the site's and those of groups."""

    words = ("description", "text", "arguments")
    kind = "command"
    when_empty = gettext_lazy(
        "No command was added here yet. One is a prompt that users send by its "
        "name, as “/weekly-report”."
    )
    tried = gettext_lazy("A line to try")

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Say what stands for what in its text."""
        if db_field.name == "text":
            kwargs["help_text"] = _(
                "What is sent. “{{ arguments }}” stands for what follows the name, and "
                "“{{ period }}” for the argument of that name."
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out those that persons have saved for themselves."""
        return super().get_queryset(request).filter(owner=None)


@admin.register(Suggestion)
class SuggestionAdmin(ConfigurationAdmin):
    """Next prompts to press."""

    words = ("label", "text", "path")
    kind = "suggestion"
    when_empty = gettext_lazy(
        "No suggestion was added here yet. One is a prompt that users send by "
        "pressing it."
    )


@admin.register(Agent)
class AgentAdmin(ConfigurationAdmin):
    """Named configurations, of which users choose one for a conversation."""

    words = (
        *("label", "description", "text", "profile", "reasoning", "tools", "modules"),
        *("steps", "run_s", "loop"),
    )
    kind = "agent"
    when_empty = gettext_lazy(
        "No agent was added here yet. One has instructions, tools and a model of "
        "its own, and users choose it for a conversation."
    )
    markdown = ("text",)

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Any:
        """Say what its instructions are."""
        if db_field.name == "text":
            kwargs["help_text"] = _(
                "Plain sentences. They are in the prompt of each step."
            )
        return super().formfield_for_dbfield(db_field, request, **kwargs)
