from pydantic import Field

from ai_assistant.web.rest.shapes.base import JSON, Shape


class ToolShape(Shape):
    """A tool that the user may call."""

    name: str
    label: str
    description: str
    effect: str = Field(description="read, ui, write or destructive")
    policy: str = Field(
        description="allow or ask: whether each call waits for a person"
    )
    background: bool
    browser: bool = Field(description="A page carries it out.")
    parameters: dict[str, JSON] = Field(description="A JSON Schema.")


class ModuleShape(Shape):
    """What the assistant is on some pages."""

    id: str
    label: str
    matches: list[str] = Field(description="Names of views; `*` stands for anything.")
    tools: list[str] = Field(description="Those of its tools that the user may call.")


class RegisteredShape(Shape):
    """What the site's apps have registered, as far as the user may call it."""

    context: list[str]
    tools: list[ToolShape]
    commands: list[str]
    skills: list[str]
    hooks: list[str]
    modules: list[ModuleShape]
    suggestions: list[str]
