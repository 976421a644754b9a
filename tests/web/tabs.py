"""Tabs of a browser without script: what a form has, and what it posts."""

from html.parser import HTMLParser
from typing import Any

from django.test import Client

Fields = dict[str, list[str]]


class _Form(HTMLParser):
    """The fields of one form, as a browser would post them untouched."""

    def __init__(self, form_id: str | None) -> None:
        super().__init__()
        self.form_id = form_id
        self.fields: Fields = {}
        self.is_inside = False
        self.area: list[str] | None = None
        self.select: dict[str, str | None] = {}
        self.first: str | None = None

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        own = dict(attrs)
        if tag == "form":
            name = own.get("id") or ""
            is_other = "logout" in name or "aia" in f"{name} {own.get('class')}"
            self.is_inside = name == self.form_id if self.form_id else not is_other
        if self.is_inside and "disabled" not in own:
            self._field(tag, own)

    def _field(self, tag: str, own: dict[str, Any]) -> None:
        if tag == "input":
            self._input(own)
        elif tag == "textarea":
            self.area = self.fields.setdefault(own["name"], [])
            self.area.append("")
        elif tag == "select":
            self.select, self.first = own, None
        elif tag == "option" and "name" in self.select:
            value = own.get("value") or ""
            self.first = value if self.first is None else self.first
            if "selected" in own:
                self.fields.setdefault(str(self.select["name"]), []).append(value)

    def _input(self, own: dict[str, Any]) -> None:
        kind = own.get("type", "text")
        is_off = kind in ("checkbox", "radio") and "checked" not in own
        if is_off or kind in ("file", "submit", "button") or not own.get("name"):
            return
        value = own.get("value", "on" if kind == "checkbox" else "")
        self.fields.setdefault(own["name"], []).append(value or "")

    def handle_data(self, data: str) -> None:
        if self.area is not None:
            self.area[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.area is not None:
            text = self.area[-1].removeprefix("\n")
            self.area[-1] = text.replace("\r\n", "\n").replace("\n", "\r\n")
            self.area = None
        elif tag == "select" and self.is_inside:
            name = self.select.get("name")
            if name and "multiple" not in self.select and self.first is not None:
                self.fields.setdefault(name, [self.first])
            self.select = {}
        elif tag == "form":
            self.is_inside = False


def fields_of(html: str, form_id: str | None = None) -> Fields:
    """Return what the form posts, by name; of a form without id, the only one."""
    form = _Form(form_id)
    form.feed(html)
    return form.fields


class Tab:
    """A page with a form, open in a browser."""

    def __init__(self, client: Client, path: str, form_id: str) -> None:
        self.client, self.path, self.form_id = client, path, form_id
        self.fields: Fields = {}
        self.load()

    def load(self) -> None:
        """Load the page anew."""
        answer = self.client.get(self.path)
        assert answer.status_code == 200
        self.html = answer.content.decode()
        self.fields = fields_of(self.html, self.form_id)

    def put(self, name: str, *values: str) -> None:
        """Fill in a field, or untick it."""
        if values:
            self.fields[name] = list(values)
        else:
            self.fields.pop(name, None)

    def save(self, button: str = "_save", **files: Any) -> Any:
        """Press a button; return the answer. A page that asks is not answered."""
        return self.client.post(self.path, {**self.fields, button: "Save", **files})


def decide(client: Client, path: str, asked: Any, **files: Any) -> Any:
    """Send the page that asks as it is, with `choices` of the person."""
    choices = files.pop("choices", {})
    fields = fields_of(asked.content.decode())
    for name, choice in choices.items():
        fields[f"_aia_choice-{name}"] = [choice]
    return client.post(path, {**fields, **files})
