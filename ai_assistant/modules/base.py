"""The bundle that a page selects: tools, prompt, features and rules."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ai_assistant.changes.values import model_of_label
from ai_assistant.modules.settings import NO_SETTINGS, ModuleSettings
from ai_assistant.types import RunContext

if TYPE_CHECKING:
    from django.db.models import Model

CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
FEATURES: Mapping[str, bool] = {
    "ask_user": True,
    "plan": True,
    "read_only_guard": True,
    "reasoning": True,
    "rollback": False,
    "lock": False,
    "attachments": False,
}
LIMITS = ("steps", "run_s", "tokens", "usd")  # of one answer
PROMPT_CHARS = 8000  # of a module's prompt; tools read large parts
NOT_BUILT = frozenset({"attachments"})


class ContextModule:
    """
    The tools, prompt and rules on some pages. Register it with `ai_assistant.register`.

    `matches` are names of views with their namespace, `*` standing for anything;
    the most specific match wins. `tools` are tool functions or their names;
    `overrides` says which of them stand in for a shared tool. Nothing is kept on
    an instance: every method gets the RunContext of the run.
    """

    id: str = ""  # from the name of the class, unless it is given
    label: Any = ""
    matches: ClassVar[Sequence[str]] = ()
    tools: ClassVar[Sequence[str | Callable[..., Any]]] = ()
    overrides: ClassVar[Mapping[str, str]] = {}  # shared tool -> own tool
    prompt: str = ""
    # Of the site's API, as API_OPERATIONS has them; they narrow that. None: all of it.
    api_operations: ClassVar[Sequence[str]] = ()
    skills: ClassVar[Sequence[str]] = ()  # whose text is in the prompt from the start
    features: ClassVar[Mapping[str, bool]] = {}
    limits: ClassVar[Mapping[str, float]] = {}  # of one answer, by LIMITS; tighten only
    suggestions: ClassVar[Sequence[Any]] = ()
    read_only: bool = False
    read_only_reason: Any = ""  # a sentence for the person
    # Guards among the features that are on, and that the admin may switch off.
    configurable: ClassVar[Sequence[str]] = ()
    configured: ModuleSettings = NO_SETTINGS  # what a row of the admin says of it

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__dict__.get("id"):
            # `OrderModule` is `order`.
            cls.id = CAMEL.sub("_", cls.__name__.removesuffix("Module")).lower()

    def get_tools(self, context: RunContext) -> Sequence[str | Callable[..., Any]]:
        """Return the module's own tools on this page."""
        return self.tools

    def get_prompt(self, context: RunContext) -> str:
        """Return the prompt for this page; called before each step."""
        return self.prompt

    def get_suggestions(self, context: RunContext) -> Sequence[Any]:
        """Return what an empty panel suggests on this page."""
        return self.suggestions

    def is_read_only(self, context: RunContext) -> bool:
        """Return whether the object of this page, or all on one without, stays."""
        return self.read_only

    def get_read_only_reason(self, context: RunContext) -> str:
        """Return the sentence that says why; asked only if it is read-only."""
        return str(self.read_only_reason)

    def get_root(self, context: RunContext) -> "Model | None":
        """
        Return the object to which all that the page changes belongs.

        That of the page, by default. A run locks it; a snapshot is of it.
        """
        page = context.page
        model = model_of_label(f"{page.app_label}.{page.model_name}")
        if model is None or not page.object_id:
            return None
        found: Model | None = model._base_manager.filter(pk=page.object_id).first()
        return found

    def take_snapshot(self, context: RunContext) -> Any:
        """
        Return the root object with all that belongs to it, as JSON; None for none.

        Of equal states equal values. With the feature `rollback` it is asked before
        the first write of a call and after the last one. Leave secrets out.
        """

    def apply_rollback(self, context: RunContext, snapshot: Any) -> None:
        """
        Make the root object, with all that belongs to it, what it was.

        Raise ToolFailed if that must not be. It is also called to see what it would
        write, and rolled back then.
        """

    def describe_rollback(self, context: RunContext, snapshot: Any) -> str:
        """Return what a person is told of what a snapshot holds, in few words."""
        return ""

    def validate(self, context: RunContext, root: Any) -> None:
        """
        Validate an object with all that belongs to it, before a write is committed.

        `root` is the object of the page, or one of its model that was written, as it
        is now in the database. Raise ValidationError, or ModelRetry with a hint for
        the model: then nothing is written.
        """

    @property
    def validates(self) -> bool:
        """Whether it has a `validate` of its own."""
        return type(self).validate is not ContextModule.validate

    def get_label(self, context: RunContext) -> str:
        """Return what the panel calls this module."""
        return str(self.label)

    def get_route(self, context: RunContext) -> str:
        """Return the path to which “Back” leads."""
        return context.page.path

    def cleanup(self, context: RunContext) -> None:
        """Clean up after a run of this module ends, whatever the outcome."""

    def has(self, feature: str) -> bool:
        """Return whether a feature is on. Raise KeyError if its name is unknown."""
        return {**FEATURES, **self.features}[feature]


def tool_name(tool: str | Callable[..., Any]) -> str:
    """Return the name of a tool that is given by its name or its function."""
    if isinstance(tool, str):
        return tool
    return str(getattr(tool, "assistant_tool", tool.__name__))
