"""What is done twice on such a site: by a tool, and by a person on the real page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Typed = Mapping[str, Any]  # name of a control: a text, or a list of texts


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """
    One change: the arguments of the tool, and what a person types for it.

    `typed` goes over what the page shows, by the names of its controls; None unticks a
    box. `rows` are the prefixes of the formsets to which a person adds a row. `query`
    is that of the page; a function, if only the database knows it. `language` is what
    the browser wants.
    """

    tool: str
    model: str
    arguments: Mapping[str, Any]
    typed: Typed = field(default_factory=dict)
    rows: Sequence[str] = ()
    query: str | Callable[[], str] = ""
    language: str = "en"
    titled: str = ""  # how the title of the card ends
    page: str = ""  # where the person is, if not on the page of the object
    refused: bool = False  # by the page, so by the tool
    asked_twice: str = ""  # why, if the first card cannot be enough

    @property
    def page_query(self) -> str:
        """The query of the page, with its question mark if there is one."""
        query = self.query() if callable(self.query) else self.query
        return f"?{query}" if query else ""


def add(model: str, values: Mapping[str, Any], typed: Typed, **options: Any) -> Case:
    """Add an object."""
    arguments = {"values": values, **options.pop("more", {})}
    return Case(
        tool="create_object", model=model, arguments=arguments, typed=typed, **options
    )


def change(
    model: str, pk: Any, values: Mapping[str, Any], typed: Typed, **options: Any
) -> Case:
    """Change an object, or rows of its inlines."""
    arguments = {"id": str(pk), "values": values, **options.pop("more", {})}
    return Case(
        tool="change_object", model=model, arguments=arguments, typed=typed, **options
    )


def bulk(
    model: str, pks: Sequence[Any], values: Mapping[str, Any], typed: Typed
) -> Case:
    """Change several objects; a person does so one after another."""
    arguments = {"ids": [str(pk) for pk in pks], "values": values}
    return Case(tool="change_objects", model=model, arguments=arguments, typed=typed)


def act(model: str, pks: Sequence[Any], action: str, **options: Any) -> Case:
    """Carry out an action of the list."""
    arguments = {"ids": [str(pk) for pk in pks], "action": action}
    return Case(tool="run_admin_action", model=model, arguments=arguments, **options)


def delete(model: str, pk: Any) -> Case:
    """Delete an object."""
    return Case(tool="delete_objects", model=model, arguments={"ids": [str(pk)]})
