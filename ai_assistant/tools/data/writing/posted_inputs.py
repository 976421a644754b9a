"""What a browser posts for the inputs in a piece of HTML."""

from html.parser import HTMLParser
from typing import Any

Pairs = list[tuple[str, str]]


def posted_inputs(html: str) -> Pairs:
    """Return what a browser posts for the inputs in a piece of HTML."""
    reader = _Inputs()
    reader.feed(html)
    reader.close()
    return reader.pairs


NOT_POSTED = {"submit", "button", "image", "reset", "file"}
TICKED = {"checkbox", "radio"}


class _Inputs(HTMLParser):
    """Reads the inputs of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pairs: Pairs = []
        self._name = ""  # of the text area or the list that is open
        self._text: list[str] | None = None  # of the text area or the option
        self._option: dict[str, Any] | None = None
        self._options: list[dict[str, Any]] = []
        self._is_multiple = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        name = "" if "disabled" in own else own.get("name") or ""
        if tag == "input" and name:
            self._input(own, name)
        elif tag == "textarea":
            self._name, self._text = name, []
        elif tag == "select":
            self._name, self._options = name, []
            self._is_multiple = "multiple" in own
        elif tag == "option":
            self._end_option()
            self._option, self._text = own, []

    def _input(self, own: dict[str, str | None], name: str) -> None:
        kind = (own.get("type") or "text").lower()
        if kind in NOT_POSTED or (kind in TICKED and "checked" not in own):
            return
        default = "on" if kind in TICKED else ""
        value = own.get("value")
        self.pairs.append((name, default if value is None else value))

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            if self._name:
                text = "".join(self._text or ())
                self.pairs.append((self._name, text.removeprefix("\n")))
            self._text = None
        elif tag == "option":
            self._end_option()
        elif tag == "select":
            self._end_option()
            self._end_select()

    def _end_option(self) -> None:
        if self._option is not None:
            text = "".join(self._text or ()).strip()
            value = self._option.get("value")
            value = text if value is None else value
            self._options.append({**self._option, "value": value})
        self._option = self._text = None

    def _end_select(self) -> None:
        usable = [item for item in self._options if "disabled" not in item]
        chosen = [item for item in usable if "selected" in item]
        if not self._is_multiple:
            chosen = chosen[-1:] or usable[:1]
        if self._name:
            self.pairs += [(self._name, str(item["value"])) for item in chosen]
        self._options = []
