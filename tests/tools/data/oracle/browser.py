"""What a browser would post of a page of the admin, read from its HTML."""

from html.parser import HTMLParser
from typing import Any

Posted = dict[str, list[str]]


class Elements(HTMLParser):
    """Collects controls as (tag, attributes, text, options), in their order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[Any] = []
        self.open: list[Any] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        own = {"tag": tag, "text": "", "options": [], **dict(attrs)}
        if tag == "option":
            self.found[-1]["options"].append(own)
        elif tag in ("input", "select", "textarea"):
            self.found.append(own)
        if tag in ("option", "textarea"):
            self.open.append(own)

    def handle_endtag(self, tag):
        if tag in ("option", "textarea"):
            self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.open[-1]["text"] += data


def posted_by(html: str, form_id: str) -> Posted:
    """Return what a form posts if nobody touches it: the named one, or that of Save."""
    own = f'id="{form_id}"'
    mark = own if own in html else 'name="_save"'
    start = html.rindex("<form", 0, html.index(mark))
    posted: Posted = {}
    for control in Elements(html[start : html.index("</form>", start)]).found:
        name = control.get("name")
        if name and "disabled" not in control:
            for value in _values(control):
                posted.setdefault(name, []).append(value)
    posted.pop("csrfmiddlewaretoken", None)
    return posted


def _values(control: Any) -> list[str]:
    if control["tag"] == "textarea":
        return [control["text"].removeprefix("\n")]
    if control["tag"] == "select":
        options = [(one.get("value", one["text"]), one) for one in control["options"]]
        marked = [value or "" for value, one in options if "selected" in one]
        if "multiple" in control:
            return marked
        return marked[-1:] or [value or "" for value, _one in options[:1]]
    kind = control.get("type", "text")
    if kind in ("submit", "file", "button"):
        return []
    if kind in ("checkbox", "radio"):
        return [control.get("value", "on")] if "checked" in control else []
    return [control.get("value") or ""]


def with_row(posted: Posted, prefix: str, number: int) -> None:
    """Add a row, if it is not there, as the script does: a copy of the empty form."""
    total = int(posted[f"{prefix}-TOTAL_FORMS"][0])
    if number < total:
        return
    empty = f"{prefix}-__prefix__-"
    for name in [one for one in posted if one.startswith(empty)]:
        posted[name.replace("__prefix__", str(total))] = list(posted[name])
    posted[f"{prefix}-TOTAL_FORMS"] = [str(total + 1)]
