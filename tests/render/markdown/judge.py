"""A second opinion on HTML, which shares nothing with the renderer."""

import re
from html.parser import HTMLParser

import nh3

TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "strong"),
    *("em", "s", "code", "pre", "ul", "ol", "li", "table", "thead", "tbody", "tr"),
    *("th", "td", "a", "span", "div"),
}
VOID = {"br", "hr"}
INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)
LOCAL = re.compile(r"(?!//)(?![a-zA-Z][a-zA-Z0-9+.\-]*:)[!-\[\]-~]+")
FOREIGN = re.compile(r"(?:https?:)?//([A-Za-z0-9.\-_]+(?::\d+)?|\[[0-9a-f:.]+\])", re.I)
MAIL = re.compile(r"mailto:([^\s@?,;<>]+@[a-zA-Z0-9.\-]+)(\?[!-~]*)?", re.I)
REL = "noopener noreferrer nofollow"
FIXED = {
    ("a", "target"): re.compile("_blank"),
    ("a", "rel"): re.compile(REL),
    ("div", "role"): re.compile("region"),
    ("div", "tabindex"): re.compile("0"),
    ("pre", "tabindex"): re.compile("0"),
    ("div", "aria-label"): re.compile(r"[^\n]{1,80}"),
    ("ol", "start"): re.compile(r"\d{1,9}"),
}

_second = nh3.Cleaner(
    tags=TAGS,
    attributes={
        "*": {"class"},
        "a": {"href", "rel", "target"},
        "div": {"role", "tabindex", "aria-label"},
        "pre": {"tabindex"},
        "ol": {"start"},
    },
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)


class Judge(HTMLParser):
    """Collects what is wrong in `faults`, and what a reader sees in `text`."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.text = ""
        self.prose = ""  # without code
        self.links: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]
        if INVISIBLE.search(self.text):
            self.faults.append(f"invisible characters in {self.text!r}")

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.faults.append(f"tag {tag}")
        if len({name for name, _ in attrs}) != len(attrs):
            self.faults.append(f"attribute twice in {tag}")
        for name, value in attrs:
            if not self._allowed(tag, name, value or ""):
                self.faults.append(f"{tag} {name}={value!r}")
        if tag == "a":
            self._link(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def _allowed(self, tag: str, name: str, value: str) -> bool:
        if INVISIBLE.search(value):
            return False
        if name == "class":
            return all(re.fullmatch(r"aia-[a-z]+", one) for one in value.split())
        if (tag, name) == ("a", "href"):
            return any(form.match(value) for form in (LOCAL, FOREIGN, MAIL))
        known = FIXED.get((tag, name))
        return known is not None and known.fullmatch(value) is not None

    def _link(self, attrs: dict[str, str]) -> None:
        href = attrs.get("href", "")
        leaves = LOCAL.fullmatch(href) is None
        if leaves != (attrs.get("rel") == REL) or leaves != ("target" in attrs):
            self.faults.append(f"rel or target of {href!r}")
        if "a" in self.open:
            self.faults.append("link in a link")
        self.links.append((href, ""))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> out of place")
        if tag == "a" and self.links:
            href, text = self.links[-1]
            found = FOREIGN.match(href) or MAIL.match(href)
            if found and found[1].lower() not in text.lower():
                self.faults.append(f"{href!r} is shown as {text!r}")

    def handle_data(self, data):
        self.text += data
        if not {"code", "pre"} & set(self.open):
            self.prose += data
        if "a" in self.open:
            href, text = self.links[-1]
            self.links[-1] = href, text + data

    def handle_comment(self, data):
        self.faults.append(f"comment {data!r}")

    def handle_decl(self, decl):
        self.faults.append(f"declaration {decl!r}")

    def handle_pi(self, data):
        self.faults.append(f"instruction {data!r}")


def faults(html: str) -> list[str]:
    """Return what is wrong with `html`; empty if it is safe."""
    found = Judge(html).faults
    if _second.clean(html) != html:
        found.append("a second cleaner changes it")
    return found
