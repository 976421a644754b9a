"""The outline of a page: its lines as the model reads them, and the refs it was told."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urljoin
from uuid import UUID

from django.http import QueryDict

from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import is_withheld
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.safety.policy.sensitive import HIDDEN
from ai_assistant.types import JSON

MOST_BYTES = 12_000
TEXT_CHARS = 300
FIELDS = frozenset(
    {"textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch"}
    | {"spinbutton", "slider"}
)
REF = re.compile(r"e\d{1,9}")
ROLE = re.compile(r"[a-z]{1,20}")
NO_STATE = re.compile(r"[^\w .:…-]")
LINE = re.compile(
    r'(?P<indent> *)((?P<ref>e\d+) )?(?P<role>[a-z]+) "(?P<name>[^"]*)"'
    r"( to (?P<host>[\w.:-]+))?"
)
LINE_ENDS = re.compile("[\x85\u2028\u2029]")  # which JSON may have as they are
OPTION_CHARS, MOST_OPTIONS = 40, 13


class Told(Protocol):
    """What of a page may be told."""

    def is_kept(self, name: str) -> bool:
        """Return whether the value of an input of this name is kept back."""
        ...

    def is_text_kept(self, name: str) -> bool:
        """Return whether a text that belongs to this field, or to none, is kept back."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """An element as the model was told of it."""

    role: str
    name: str
    row: str = ""  # in which it is
    host: str = ""  # to which a press leads, if it is not that of the page


def outline_text(path: str, lines: JSON, told: Told, *, most: int = MOST_BYTES) -> str:
    """
    Return the outline that the page at `path` reports, without what is kept back.

    What is kept back has no ref either: nothing can be done to it.
    """
    page = find_page(path)
    texts: list[str] = []
    size = 0
    shown = list(_shown(path, page, lines, told))
    for number, line in enumerate(shown):
        size += len(json.dumps(line, ensure_ascii=False).encode()) + 2
        if size > most:
            texts.append(f"… {len(shown) - number} more lines")
            break
        texts.append(line)
    return "\n".join(texts)


def _shown(path: str, page: SitePage | None, lines: JSON, told: Told) -> Iterator[str]:
    is_of_site = page is not None and not page.is_of_admin
    for line in lines if isinstance(lines, list) else ():
        if not (isinstance(line, list) and len(line) == 8):
            continue
        depth, ref, role, name, value, state, of, href = line
        if not ROLE.fullmatch(str(role)):
            continue
        of = str(of)
        if role in FIELDS:
            is_kept = told.is_kept(of)
        else:
            is_kept = bool(of) and told.is_text_kept(of)
            if role == "link" and not is_kept:
                href = str(href)
                is_kept = _filters_by_kept(href, told) or _leads_to_kept(path, href)
            if role == "text" and not of and not is_of_site:
                continue  # of an admin, only what belongs to a field is known
            if is_kept and role == "text":
                continue
        indent = "  " * min(int(depth), 30) if isinstance(depth, int) else ""
        yield indent + _line(ref, role, name, value, state, is_kept=is_kept)


def _line(
    ref: Any, role: str, name: Any, value: Any, state: Any, *, is_kept: bool
) -> str:
    has_ref = not is_kept and REF.fullmatch(str(ref))
    text = HIDDEN if is_kept and role not in FIELDS else _one_line(name)
    parts = [str(ref)] if has_ref else []
    parts += [role, f'"{text}"']
    if value not in (None, "") and role in FIELDS:
        options = value.get("of") if isinstance(value, Mapping) else None
        value = value.get("is") if isinstance(value, Mapping) else value
        parts.append(f"= {_json(HIDDEN if is_kept else value)}")
        if options and not is_kept:
            parts.append(f"of {_json(options)}")
    if state and not is_kept:
        parts.append(NO_STATE.sub("", _one_line(state)))
    return " ".join(parts)


def _one_line(text: Any) -> str:
    return " ".join(str(text).replace('"', "'").split())[:TEXT_CHARS]


def _json(value: Any) -> str:
    """Return a value as JSON on one line, which is never cut within a text."""
    if isinstance(value, list):
        value = [str(one)[:OPTION_CHARS] for one in value[:MOST_OPTIONS]]
    elif not isinstance(value, bool | int | float | None):
        value = str(value)[:TEXT_CHARS]
    return LINE_ENDS.sub(" ", json.dumps(value, ensure_ascii=False))


def _leads_to_kept(path: str, href: str) -> bool:
    """Return whether a link leads to an object that is kept from the assistant."""
    try:
        page = find_page(urljoin(path, href))
    except ValueError:
        return False
    return page is not None and bool(page.info.object_id) and is_withheld(page)


def _filters_by_kept(href: str, told: Told) -> bool:
    """Return whether a link filters the list of the page by what is kept back."""
    return href.startswith("?") and any(map(told.is_text_kept, QueryDict(href[1:])))


def seen_elements(
    conversation_id: UUID, snapshot: str, tools: Iterable[str]
) -> dict[str, Seen]:
    """Return the elements that outlines of a snapshot have told, by their refs."""
    calls = ToolCall.objects.filter(
        run__conversation_id=conversation_id,
        name__in=tools,
        status=CallStatus.COMPLETE,
        result__data__snapshot=snapshot,
    )
    found: dict[str, Seen] = {}
    for result in calls.order_by("finished_at").values_list("result", flat=True):
        for text in _texts(result["data"] if result else {}):
            found.update(_seen_in(text))
    return found


def _seen_in(text: str) -> Iterator[tuple[str, Seen]]:
    row, depth = "", -1
    for line in text.split("\n"):
        one = LINE.match(line)
        if one is None:
            continue
        if len(one["indent"]) <= depth:
            row, depth = "", -1
        if one["ref"]:
            host = one["host"] or ""
            yield (
                one["ref"],
                Seen(role=one["role"], name=one["name"], row=row, host=host),
            )
        if one["role"] == "row":
            row, depth = one["name"], len(one["indent"])


def _texts(data: Mapping[str, Any]) -> Iterator[str]:
    yield str(data.get("outline", ""))
    for text in data.get("read", ()):
        yield str(text)
