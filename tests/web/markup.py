"""Elements of a piece of HTML, for questions such as "is there an #aia-form"."""

from html.parser import HTMLParser


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Elements()
    parser.feed(html)
    return parser.found


def all_with(html: str, **wanted: str | None) -> list[dict[str, str | None]]:
    """Return the attributes of the elements that have all `wanted` ones."""
    names = {key.rstrip("_").replace("_", "-"): said for key, said in wanted.items()}
    return [
        attrs
        for _, attrs in elements(html)
        if all(_has(attrs, name, said) for name, said in names.items())
    ]


def one_with(html: str, **wanted: str | None) -> dict[str, str | None]:
    (found,) = all_with(html, **wanted)
    return found


def _has(attrs, name, said) -> bool:
    if name == "class":
        return said in (attrs.get("class") or "").split()
    return name in attrs and (said is None or attrs[name] == said)
