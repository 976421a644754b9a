"""
Where an answer's links into the admin lead: the objects that its tools have read.

Only what a tool of the same run has really returned is a source, with the name that it
had then. A link that the model made up is none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps

from ai_assistant.ambient import match_of
from ai_assistant.models.call import CallStatus, ToolCall

Entry = dict[str, Any]
Key = tuple[str, str]  # label of the model, id of the object

LINK = re.compile(r"\]\(\s*<?(/[^\s)>]+)")  # of Markdown, into this site
MOST_SOURCES = 20
MOST_DEPTH = 6  # of a result that is looked through


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What an object was called when a tool read it, which one, and when."""

    text: str
    tool: str
    at: datetime | None


def sources_of(texts: Mapping[UUID, str]) -> dict[UUID, list[Entry]]:
    """Return what `sources.html` draws below each text, by the id of its run."""
    linked = {run_id: _linked(text) for run_id, text in texts.items()}
    wanted = [run_id for run_id, links in linked.items() if links]
    if not wanted:
        return {}  # results may be large: they are read where they are needed alone
    found = _readings(wanted)
    return {
        run_id: [
            _entry(key, href, found[run_id][key])
            for key, href in linked[run_id].items()
            if key in found[run_id]
        ][:MOST_SOURCES]
        for run_id in wanted
    }


def _readings(run_ids: list[UUID]) -> dict[UUID, dict[Key, Reading]]:
    """Return how each object was read last, by the id of its run."""
    found: dict[UUID, dict[Key, Reading]] = {run_id: {} for run_id in run_ids}
    calls = ToolCall.objects.filter(run_id__in=run_ids, status=CallStatus.COMPLETE)
    fields = ("run_id", "result", "label", "name", "finished_at")
    in_order = calls.order_by("finished_at", "pk").values_list(*fields)
    for run_id, result, label, name, at in in_order.iterator():
        for key, text in _objects((result or {}).get("data"), ""):
            found[run_id][key] = Reading(text=text, tool=label or name, at=at)
    return found


def _linked(text: str) -> dict[Key, str]:
    """Return the objects that `text` links, with the address of each."""
    found: dict[Key, str] = {}
    for href in LINK.findall(text):
        if key := _object_at(href):
            found.setdefault(key, href)
    return found


def _object_at(href: str) -> Key | None:
    """Return the object whose page in the admin stands at `href`."""
    path = href.partition("#")[0].partition("?")[0]
    match = match_of(path)
    object_id = match.kwargs.get("object_id") if match else None
    if match is None or match.app_name != "admin" or object_id is None:
        return None
    label = _model_of(match.url_name or "")
    return (label, str(object_id)) if label else None


def _model_of(url_name: str) -> str:
    """Return the model of a change page; names of apps may hold "_" themselves."""
    for app in apps.get_app_configs():
        name = url_name.removeprefix(f"{app.label}_").removesuffix("_change")
        if url_name == f"{app.label}_{name}_change" and name in app.models:
            return f"{app.label}.{name}".lower()
    return ""


def _objects(data: object, model: str, depth: int = 0) -> Iterator[tuple[Key, str]]:
    """Yield the objects in a result: what has an id and a name, below its model."""
    if depth > MOST_DEPTH:
        return
    if isinstance(data, list):
        for one in data:
            yield from _objects(one, model, depth + 1)
    elif isinstance(data, dict):
        said = data.get("model")
        model = said.lower() if isinstance(said, str) else model
        text = data.get("text")
        if model and "id" in data and isinstance(text, str) and text:
            yield (model, str(data["id"])), text
        for value in data.values():
            if isinstance(value, list | dict):
                yield from _objects(value, model, depth + 1)


def _entry(key: Key, href: str, read: Reading) -> Entry:
    label, _ = key
    known = {"url": href, "text": read.text, "tool": read.tool, "read_at": read.at}
    try:
        meta = apps.get_model(label)._meta  # noqa: SLF001 - Django's public Meta API
    except (LookupError, ValueError):
        return {**known, "model": label, "app": ""}
    return {
        **known,
        "model": str(meta.verbose_name),
        "app": str(meta.app_config.verbose_name),
    }
