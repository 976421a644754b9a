"""The allow-list: the last thing that happens to any HTML of a model."""

import nh3

from ai_assistant.render.markdown.highlight import CLASSES
from ai_assistant.render.markdown.links import REL

_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote"),
    *("strong", "em", "s", "code", "pre", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "span", "div"),
}
_ALIGNMENTS = {"aia-left", "aia-center", "aia-right"}

_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes={"a": {"href"}, "div": {"aria-label"}, "ol": {"start"}},
    tag_attribute_values={
        "a": {"rel": {REL}, "target": {"_blank"}},
        "div": {"role": {"region"}, "tabindex": {"0"}},
        "pre": {"tabindex": {"0"}},
    },
    allowed_classes={
        "a": {"aia-image"},
        "div": {"aia-code", "aia-table"},
        "li": {"aia-task"},
        "span": {"aia-host", "aia-lang", "aia-check", "aia-image", *CLASSES},
        "td": _ALIGNMENTS,
        "th": _ALIGNMENTS,
    },
    url_schemes={"http", "https", "mailto"},
    link_rel=None,  # the renderer sets it, on what leaves the site
)


def sanitise(html: str) -> str:
    """Return `html` with nothing in it that is not on the list."""
    return _cleaner.clean(html)
