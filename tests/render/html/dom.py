"""A page in memory, on which frames are applied as the browser's script does it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}
VERBATIM = {"pre", "code"}  # where white space is text
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
        for op, target, *rest in ops:
            if op == "accepted":
                self.accepted.append(target)
                continue
            element = self.by_id(target)
            if element is not None:
                getattr(self, f"_{op}")(element, *rest)

    def _append(self, parent: Node, html: str) -> None:
        for fresh in _elements(html):
            old = self.by_id(fresh.id) if fresh.id else None
            if old is None:
                parent.add(fresh)
            else:
                old.replace_with(fresh)

    def _replace(self, element: Node, html: str) -> None:
        element.children = []
        for child in parse(html).children:
            element.add(child)

    def _outer(self, element: Node, html: str) -> None:
        element.replace_with(*_elements(html)[:1])

    def _text(self, element: Node, text: str) -> None:
        element.add(text)

    def _remove(self, element: Node) -> None:
        element.replace_with()

    def _attr(self, element: Node, name: str, value: str | None) -> None:
        assert name.startswith(("data-", "aria-")) or name in ("hidden", "disabled")
        if value is None:
            element.attrs.pop(name, None)
        else:
            element.attrs[name] = value


def _elements(html: str) -> list[Node]:
    return [child for child in parse(html).children if isinstance(child, Node)]
