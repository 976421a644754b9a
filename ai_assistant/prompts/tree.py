"""The system prompt as a tree of parts, which hooks change by id."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ai_assistant.types import Label

SEPARATOR = "\n\n"
OWN = "assistant"  # the source of what the assistant itself writes


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptPart:
    """
    One part of a prompt.

    `source` says who wrote it: "assistant", "setting", "module:order",
    "instruction:refunds". A part with words of a row, a file or a person has the
    `label` "data": what the model writes then asks. A `cacheable` part is the same on
    all pages of a module: it goes to the beginning, where providers find it again.
    """

    id: str
    text: str
    source: str = "site"
    label: Label = "site"
    priority: int = 0
    cacheable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt as it is sent: its parts in order, and the ids of those left out."""

    parts: tuple[PromptPart, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole text."""
        return SEPARATOR.join(part.text for part in self.parts)

    @property
    def stable_text(self) -> str:
        """Its beginning, which stays the same on all pages of a module."""
        return SEPARATOR.join(part.text for part in self.parts if part.cacheable)


@dataclass(slots=True)
class _Node:
    part: PromptPart
    children: "list[_Node]" = field(default_factory=list)


class PromptTree:
    """
    Parts in order, each with parts below it.

    Every change names the part by which it is made; KeyError if there is none, and
    ValueError if the id of a new one is taken.
    """

    def __init__(self, parts: Iterable[PromptPart] = ()) -> None:
        self._root: list[_Node] = []
        self._ids: set[str] = set()
        for part in parts:
            self.append(part)

    def __iter__(self) -> Iterator[PromptPart]:
        """Yield all parts, each before those below it."""
        return (node.part for node in _walk(self._root))

    def __contains__(self, part_id: str) -> bool:
        return part_id in self._ids

    def get(self, part_id: str) -> PromptPart:
        """Return a part."""
        siblings, index = self._find(part_id)
        return siblings[index].part

    def copy(self) -> "PromptTree":
        """Return another tree of the same parts."""
        other = PromptTree()
        other._root, other._ids = _copied(self._root), set(self._ids)
        return other

    def append(self, part: PromptPart) -> None:
        """Add a part at the end."""
        self._root.append(self._new(part))

    def insert_before(self, part_id: str, part: PromptPart) -> None:
        """Add a part before another."""
        siblings, index = self._find(part_id)
        siblings.insert(index, self._new(part))

    def insert_after(self, part_id: str, part: PromptPart) -> None:
        """Add a part after another and all below it."""
        siblings, index = self._find(part_id)
        siblings.insert(index + 1, self._new(part))

    def insert_below(self, part_id: str, part: PromptPart) -> None:
        """Add a part as the last one below another."""
        siblings, index = self._find(part_id)
        siblings[index].children.append(self._new(part))

    def replace(self, part_id: str, text: str, *, source: str) -> None:
        """Change the text of a part, and who wrote it; what is below it stays."""
        siblings, index = self._find(part_id)
        node = siblings[index]
        node.part = replace(node.part, text=text, source=source, cacheable=False)

    def remove(self, part_id: str) -> None:
        """Remove a part and all below it."""
        siblings, index = self._find(part_id)
        self._ids -= {node.part.id for node in _walk(siblings[index : index + 1])}
        del siblings[index]

    def flatten(self, left_out: Iterable[str] = ()) -> Prompt:
        """Return the prompt: the cacheable parts first, each half in the tree's order."""
        parts = [part for part in self if part.text]
        ordered = sorted(parts, key=lambda part: not part.cacheable)  # stable
        return Prompt(parts=tuple(ordered), left_out=tuple(left_out))

    def _new(self, part: PromptPart) -> _Node:
        if part.id in self:
            raise ValueError(
                f"Prompt part {part.id!r} is there already. Give the new one an id of "
                "its own, or replace it."
            )
        self._ids.add(part.id)
        return _Node(part)

    def _find(self, part_id: str) -> tuple[list[_Node], int]:
        """Return the list that holds a part, and its place there."""
        for siblings in _lists(self._root):
            for index, node in enumerate(siblings):
                if node.part.id == part_id:
                    return siblings, index
        known = ", ".join(part.id for part in self)
        raise KeyError(f"Prompt part {part_id!r} is not there. There are: {known}.")


def _copied(nodes: list[_Node]) -> list[_Node]:
    return [_Node(node.part, _copied(node.children)) for node in nodes]


def _walk(nodes: list[_Node]) -> Iterator[_Node]:
    for node in nodes:
        yield node
        yield from _walk(node.children)


def _lists(nodes: list[_Node]) -> Iterator[list[_Node]]:
    yield nodes
    for node in nodes:
        yield from _lists(node.children)


def within(
    parts: Iterable[PromptPart], room: int
) -> tuple[list[PromptPart], list[str]]:
    """
    Return the parts that fit into `room` characters, and the ids of the others.

    Those of a high priority go first; the order stays.
    """
    given = list(parts)
    kept: set[str] = set()
    for part in sorted(given, key=lambda part: -part.priority):  # stable
        if len(part.text) <= room:
            room -= len(part.text)
            kept.add(part.id)
    return (
        [part for part in given if part.id in kept],
        [part.id for part in given if part.id not in kept],
    )
