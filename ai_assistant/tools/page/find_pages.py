"""Find the pages that the user may open, with the names that `navigate_to` takes."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from django.contrib.admin.sites import all_sites
from django.urls import get_resolver
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from ai_assistant import conf
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.registry import registry
from ai_assistant.tools.data.access.model_admin import find_access, visible_models
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.tools.data.reading.pointing import (
    find_pointed,
    model_pages,
    named_object,
)
from ai_assistant.tools.page.navigate import (
    SAFE,
    check_allowed,
    is_never_named,
    page_to_open,
)
from ai_assistant.types import JSON, RunContext

MOST = 30
OF_OBJECTS = 10

Found = dict[str, JSON]


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    pages = data["pages"]
    return ngettext(
        "Looked for pages: %(count)d found",
        "Looked for pages: %(count)d found",
        len(pages),
    ) % {"count": len(pages) + data.get("more", 0)}


@tool(
    effect="read",
    shared=True,
    label=_("Pages"),
    icon="search",
    summary=_summary,
)
def find_pages(context: RunContext, text: str = "") -> dict[str, JSON]:
    """
    Tell the pages that the person may open, as navigate_to takes them.

    text: words of a title, a model or an object; without it all but objects
    """
    words = text.casefold().split()
    pages = [
        page
        for page in (*_of_admin(context), *_of_site(context))
        if _has_all(words, page)
    ]
    pages.sort(key=lambda page: not _are_in(words, page["title"]))  # stable
    objects = list(_objects(context, text)) if words else []
    room = MOST - len(objects)
    found: dict[str, JSON] = {"pages": [*objects, *pages[:room]]}
    if len(pages) > room:
        found["more"] = len(pages) - room
    return found


def _has_all(words: Iterable[str], page: Found) -> bool:
    return _are_in(words, f"{page['title']} {page['view_name']}")


def _are_in(words: Iterable[str], text: object) -> bool:
    said = str(text).casefold()
    return all(word in said for word in words)


def _of_admin(context: RunContext) -> Iterator[Found]:
    """Yield the index of the admin, and the lists and the forms to add of its models."""
    if not are_enabled(context):
        return
    every = visible_models(context)
    if every:
        site = every[0].site
        yield {"title": str(site.index_title), "view_name": f"{site.name}:index"}
    for access in every:
        stem = f"{access.options.app_label}_{access.options.model_name}"
        for page, title in model_pages(access).items():
            yield {"title": title, "view_name": f"{access.site.name}:{stem}_{page}"}


def _objects(context: RunContext, text: str) -> Iterator[Found]:
    for one in find_pointed(context, text)[:OF_OBJECTS]:
        model, key = named_object(one.id)
        access = find_access(context, model)
        stem = f"{access.options.app_label}_{access.options.model_name}"
        yield {
            "title": f"{one.kind}: {one.title}",
            "view_name": f"{access.site.name}:{stem}_change",
            "arguments": {"object_id": key},
        }


# --- pages of the site's own ---


def _of_site(context: RunContext) -> Iterator[Found]:
    """Yield the pages that the site names, in its setting and for its modules."""
    for name in sorted(_named_views()):
        page: Found = {"title": _in_words(name), "view_name": name}
        with suppress(ModelRetry, ToolFailed):
            check_allowed(name)
            if parameters := url_parameters(name):
                page["parameters"] = parameters  # whether it opens depends on them
            else:
                page_to_open(context, name, {})
            yield page


def _named_views() -> set[str]:
    """Return the full names of views that a tool may open, but pages of models."""
    named = {str(name) for name in conf.get("NAVIGATE_TO")}
    for module in registry.modules().values():
        named.update(map(str, module.matches))
    admins = {"admin", *(site.name for site in all_sites)}
    return {
        name
        for name in named
        if ":" in name and not is_never_named(name) and not _is_of_model(name, admins)
    }


def _is_of_model(name: str, admins: set[str]) -> bool:
    space, _colon, view = name.partition(":")
    return space in admins and view.rpartition("_")[2] in (*SAFE, "delete")


def url_parameters(view_name: str) -> list[str]:
    """Return the arguments of the URL of that name; none if there is no such URL."""
    *spaces, name = view_name.split(":")
    resolver = get_resolver()
    for space in spaces:
        if space not in resolver.namespace_dict:
            return []
        _prefix, resolver = resolver.namespace_dict[space]
    ways = resolver.reverse_dict.getlist(name)
    return sorted(
        {one for paths, *_rest in ways for _path, own in paths for one in own}
    )


def _in_words(view_name: str) -> str:
    name = view_name.rpartition(":")[2]
    return str(capfirst(name.replace("_", " ").replace("-", " ")))
