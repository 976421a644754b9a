"""A page in memory, on which frames are applied as the browser's script does it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from ai_assistant.render.html.live.frames import frames_of

VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}
VERBATIM = {"pre", "code"}  # where white space is text
BLOCK = re.compile(r"(.+)-b\d+")  # of an answer, and the text that it belongs to
FINAL = ("idle", "stopped", "error", "limited")
PARTS_OF_FORMS = ("csrfmiddlewaretoken",)


@dataclass(eq=False)
class Node:
    """An element; its children are elements and strings."""

    tag: str
    attrs: dict[str, str] = field(default_factory=dict)
    children: list["Node | str"] = field(default_factory=list)
    parent: "Node | None" = None

    @property
    def id(self) -> str:
        return self.attrs.get("id", "")

    def add(self, child: "Node | str") -> None:
        if isinstance(child, Node):
            child.parent = self
        self.children.append(child)

    def elements(self) -> Iterator["Node"]:
        """Every element below this one, in the order of the page."""
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.elements()

    def text(self) -> str:
        return "".join(
            child.text() if isinstance(child, Node) else child
            for child in self.children
        )

    def classes(self) -> list[str]:
        return self.attrs.get("class", "").split()

    def replace_with(self, *fresh: "Node") -> None:
        at = self.parent.children.index(self)
        self.parent.children[at : at + 1] = fresh
        for node in fresh:
            node.parent = self.parent


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("")

    def handle_starttag(self, tag, attrs):
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.at.add(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        self.at.add(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.add(data)


def parse(html: str) -> Node:
    """Return a nameless element that holds what `html` says."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert builder.at is builder.root, f"<{builder.at.tag}> is not closed"
    return builder.root


def canonical(node: "Node | str", *, verbatim: bool = False) -> object:
    """Return what counts of an element: no white space between elements."""
    if isinstance(node, str):
        return node
    verbatim = verbatim or node.tag in VERBATIM or "aia-text" in node.classes()
    children: list[object] = []
    for child in node.children:
        if isinstance(child, str) and not verbatim and not child.strip():
            continue
        if isinstance(child, Node) and child.attrs.get("name") in PARTS_OF_FORMS:
            continue
        shown = canonical(child, verbatim=verbatim)
        if isinstance(shown, str) and children and isinstance(children[-1], str):
            children[-1] += shown
        else:
            children.append(shown)
    return [node.tag, sorted(node.attrs.items()), children]


class Page:
    """The elements that frames aim at; `apply` is `frames.js` in Python."""

    def __init__(self, log: str = "", pinned: str = "", title: str = "") -> None:
        self.root = parse(
            f'<aside id="aia"><h2 id="aia-title">{title}</h2>'
            f'<div id="aia-log">{log}</div><div id="aia-pinned">{pinned}</div></aside>'
        )
        self.accepted: list[str] = []

    def by_id(self, wanted: str) -> Node | None:
        return next((node for node in self.root.elements() if node.id == wanted), None)

    def shown(self) -> object:
        """What the person sees of the conversation."""
        return [canonical(self.by_id("aia-log")), canonical(self.by_id("aia-pinned"))]

    def ids(self) -> list[str]:
        return [node.id for node in self.root.elements() if node.id]

    def apply(self, ops: list[list]) -> None:
        """Apply the frames of these operations."""
        for frame in frames_of(ops, 0, None):
            self.draw(frame)

    def draw(self, frame: dict[str, Any]) -> None:
        """Apply a frame: its targets are looked for before anything is swapped."""
        assert {*frame} <= {"s", "r", "state", "grow", "html", "tell", "more"}
        swaps = _elements(frame.get("html", ""))
        targets = [self.by_id(_target(swap)) for swap in swaps]
        for swap, target in zip(swaps, targets, strict=True):
            if target is not None:
                getattr(self, f"_{swap.attrs['data-aia-hx-swap']}")(target, swap)
        for grown_id, html in frame.get("grow", ()):
            self._grow(grown_id, html)
        self.accepted += [
            value for name, value in frame.get("tell", ()) if name == "accepted"
        ]
        if state := frame.get("state"):
            self._show_state(state)

    def _upsert(self, parent: Node, swap: Node) -> None:
        for fresh in [child for child in swap.children if isinstance(child, Node)]:
            assert fresh.id, "what is added twice is known by its id"
            old = self.by_id(fresh.id)
            if old is None:
                parent.add(fresh)
            else:
                old.replace_with(fresh)

    def _innerMorph(self, element: Node, swap: Node) -> None:  # noqa: N802 - of htmx
        element.children = []
        for child in swap.children:
            element.add(child)

    def _outerMorph(self, element: Node, swap: Node) -> None:  # noqa: N802 - of htmx
        element.replace_with(*[one for one in swap.children if isinstance(one, Node)])

    def _delete(self, element: Node, _swap: Node) -> None:
        element.replace_with()

    def _grow(self, grown_id: str, html: str) -> None:
        old, block = self.by_id(grown_id), BLOCK.fullmatch(grown_id)
        if block is None:
            assert all(isinstance(child, str) for child in parse(html).children)
            if old is not None:
                old.add(parse(html).text())
            return
        fresh = _elements(f'<div id="{grown_id}" class="aia-b">{html}</div>')[0]
        body = self.by_id(block[1])
        if old is not None:
            old.replace_with(fresh)
        elif body is not None:
            body.add(fresh)

    def _show_state(self, state: str) -> None:
        attrs = self.by_id("aia").attrs
        attrs.pop("data-warming", None)
        if state == "warming":
            attrs["data-warming"] = ""
        attrs["data-state"] = "thinking" if state == "warming" else state
        if state in FINAL:
            for node in self.by_id("aia-log").elements():
                node.attrs.pop("aria-busy", None)


def _target(swap: Node) -> str:
    assert swap.tag == "hx-partial"
    target = swap.attrs["data-aia-hx-target"]
    assert re.fullmatch(r"#[a-z][\w-]*", target), target
    return target[1:]


def _elements(html: str) -> list[Node]:
    return [child for child in parse(html).children if isinstance(child, Node)]
