"""On which page a question was asked: told once the person is on another one."""

from typing import Any
from urllib.parse import urlsplit

from django.utils.http import url_has_allowed_host_and_scheme

from ai_assistant.context.page import page_info
from ai_assistant.models.run import Run

Entry = dict[str, Any]

OWN = "ai_assistant"  # the namespace of the assistant's own pages
TITLE_CHARS = 80


def asked_on(run: Run) -> Entry | None:
    """Return what `asked_on.html` draws; None if there is no page to go back to."""
    url = run.page_path
    if not url_has_allowed_host_and_scheme(url, None) or _is_own(url):
        return None
    page = page_of(url)
    # Django writes titles with what matters first.
    title = run.page_title.partition(" | ")[0].strip() or page
    return {"url": url, "page": page, "title": title[:TITLE_CHARS]}


def page_instead(run: Run, path: str) -> str:
    """Return `path` if `run` could be asked about it instead of its own page."""
    is_other = page_of(path) not in ("", page_of(run.page_path))
    return path if is_other and not _is_own(path) else ""


def page_of(url: str) -> str:
    """Return the path alone: other filters of a list are the same page."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _is_own(url: str) -> bool:
    """Tell whether the question was asked on the assistant's own page."""
    return page_info(url).view_name.partition(":")[0] == OWN
