"""The fields of a message's form: key, page, and the context items that are kept."""

import json
import re
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.profiles import offered_profiles
from ai_assistant.engine.service import ANSWER_CHARS, clean_text
from ai_assistant.exceptions import Ask, Refused
from ai_assistant.text.unicode import join_surrogates, whole_json
from ai_assistant.types.page import is_deep

MAX_ITEMS = 50
MAX_DROPPED = 100
DROPPED_ID_CHARS = 120
ITEM_KEYS = {"id": 100, "label": 80, "description": 500}  # and their characters

MAX_TOOLS = 20
TOOLS_CHARS = 20_000
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
TOOL_DESCRIPTION_CHARS = 1000

UNREADABLE = (ValueError, RecursionError, TypeError)


def read_context(request: HttpRequest) -> dict[str, Any]:
    """Return what the fields `context` and `tools` say, as a run stores it."""
    said = _json(request.POST.get("context", ""))
    tools = _tools(request.POST.get("tools", ""))
    kept: dict[str, Any] = _kept(said) if isinstance(said, dict) else {}
    return {**kept, "tools": tools} if tools else kept


def _kept(said: dict[str, Any]) -> dict[str, Any]:
    browser, refused = _items(said.get("browser"))
    found = {
        "dropped": _names(said.get("dropped")),
        "mentioned": _names(said.get("mentioned")),
        "browser": browser,
        "refused": refused,
    }
    return {key: value for key, value in found.items() if value}


def _items(said: object) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the items within the bound, and the ids of those beyond it."""
    left = conf.BROWSER_CONTEXT_CHARS
    items: dict[str, dict[str, Any]] = {}
    refused = []
    for one in (said if isinstance(said, list) else [])[:MAX_ITEMS]:
        item = _item(one)
        if item is None or item["id"] in items:
            continue
        size = len(json.dumps(item, ensure_ascii=False))
        if size > left:
            refused.append(item["id"])
            # The model gets a note that it is missing, and why.
            item["value"] = f"left out: too large ({size} characters)"
            size = len(json.dumps(item, ensure_ascii=False))
        if size <= left:
            items[item["id"]] = item
            left -= size
    return list(items.values()), refused


def _item(said: object) -> dict[str, Any] | None:
    if not isinstance(said, dict):
        return None
    item: dict[str, Any] = {
        key: join_surrogates(text)[:most]
        for key, most in ITEM_KEYS.items()
        if isinstance(text := said.get(key, ""), str)
    }
    if not item.get("id"):
        return None
    auto = said.get("auto", True)
    return {**item, "value": whole_json(said.get("value")), "auto": auto is not False}


def _names(said: object) -> list[str]:
    if not isinstance(said, list):
        return []
    names = [
        join_surrogates(name) for name in said[:MAX_DROPPED] if isinstance(name, str)
    ]
    return [name for name in dict.fromkeys(names) if 0 < len(name) <= DROPPED_ID_CHARS]


def _tools(text: str) -> list[dict[str, Any]]:
    if not conf.get("CLIENT_TOOLS") or len(text) > TOOLS_CHARS:
        return []
    said = _json(text)
    tools: dict[str, dict[str, Any]] = {}
    for one in (said if isinstance(said, list) else [])[:MAX_TOOLS]:
        tool = _tool(one)
        if tool is not None:
            tools.setdefault(tool["name"], tool)
    return list(tools.values())


def _tool(said: object) -> dict[str, Any] | None:
    if not isinstance(said, dict):
        return None
    name, parameters = said.get("name"), said.get("parameters") or {}
    description = said.get("description", "")
    is_good = isinstance(name, str) and TOOL_NAME.fullmatch(name)
    if not is_good or not isinstance(parameters, dict):
        return None
    words = join_surrogates(description) if isinstance(description, str) else ""
    return {
        "name": name,
        "description": words[:TOOL_DESCRIPTION_CHARS],
        "parameters": whole_json(parameters),
    }


def _json(text: str) -> object:
    try:
        said = json.loads(text, parse_constant=_no_number) if text else None
    except UNREADABLE:
        return None
    return None if is_deep(said) else said


def _no_number(name: str) -> None:
    """Refuse NaN and its like: no database takes them as JSON."""
    raise ValueError(name)


MAX_PATH_CHARS = 2000
SEQ_DIGITS = 9
MOST_ROWS = 1000  # that can be ticked on a card


def read_uuid(request: HttpRequest, name: str) -> UUID:
    """Return the id in the field `name`."""
    found = parse_uuid(request.POST.get(name) or request.GET.get(name, ""))
    if found is None:
        raise _out_of_date()
    return found


def parse_uuid(text: str) -> UUID | None:
    """Return the id that a text is; None if it is none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def idempotency_key(request: HttpRequest) -> str:
    """Return the idempotency key."""
    key = request.POST.get("key", "")
    if not key.isprintable():
        raise _out_of_date()
    return key


def read_profile(request: HttpRequest) -> str:
    """Return the name of the model profile that is to answer."""
    name = request.POST.get("profile") or DEFAULT
    if name != DEFAULT and name not in offered_profiles():
        raise _out_of_date()
    return name


def read_answer(request: HttpRequest) -> str:
    """Return the answer to a question, or the reason of a denial."""
    text = request.POST.get("answer") or request.POST.get("reason", "")
    return clean_text(text, ANSWER_CHARS) if text.strip() else ""


def read_chosen(request: HttpRequest) -> tuple[str, ...]:
    """Return the selected options of a question with several answers."""
    chosen = request.POST.getlist("chosen")[: Ask.MOST_OPTIONS]
    return tuple(clean_text(one, ANSWER_CHARS) for one in chosen if one.strip())


def read_rows(request: HttpRequest) -> tuple[str, ...] | None:
    """Return the rows that are ticked on a card; None if it has none to tick."""
    if "has_rows" not in request.POST:
        return None
    return tuple(request.POST.getlist("rows")[:MOST_ROWS])


def read_decision(request: HttpRequest) -> dict[str, Any]:
    """Return what was decided: for the rest of the answer too, or for chosen rows."""
    decision = request.POST.get("decision", "")
    is_for_run = decision == "approve" and "for_run" in request.POST
    return {
        "decision": "approve_for_run" if is_for_run else decision,
        "rows": read_rows(request),
        # The card showed all of them, and not the first alone.
        "has_all_rows": "has_all_rows" in request.POST,
    }


def read_seq(request: HttpRequest) -> int:
    """Return the number of the last event that the page shows; 0 for nonsense."""
    return read_number(request, "after")


def read_number(request: HttpRequest, name: str) -> int:
    """Return a number from the query string; 0 if it is invalid."""
    return parse_number(request.GET.get(name, ""))


def parse_number(said: str) -> int:
    """Return the number that a text is; 0 if it is none."""
    is_number = said.isascii() and said.isdigit() and len(said) <= SEQ_DIGITS
    return int(said) if is_number else 0


def page_path(said: str) -> str:
    """Return the path of a page of this site, or nothing."""
    path = said[:MAX_PATH_CHARS]
    is_good = path.startswith("/") and path.isprintable()
    return path if is_good and url_has_allowed_host_and_scheme(path, None) else ""


def _out_of_date() -> Refused:
    sentence = _("This page is out of date. Reload it and try again.")
    return Refused("bad_request", sentence)
