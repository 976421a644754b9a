from pydantic import Field

from ai_assistant.web.rest.shapes.base import Shape


class RootShape(Shape):
    """Where everything is, and what the caller may do."""

    user: str
    scopes: list[str] = Field(description="What this caller may: read, run, approve.")
    addresses: dict[str, str]
