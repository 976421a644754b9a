"""The banner over a conversation that is about another page than the one open."""

import logging
from dataclasses import dataclass
from typing import Any

from ai_assistant.context.collect import page_title
from ai_assistant.context.page import find_page, page_info
from ai_assistant.engine.scope import RunScope
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry
from ai_assistant.web.fields import page_path

logger = logging.getLogger("ai_assistant")

LABEL_CHARS = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """What a conversation is about, and the path that leads there."""

    label: str
    route: str


def origin_of(run: Run | None, user: Any, path: str) -> Origin | None:  # noqa: ANN401 - the site's user model
    """
    Return where the conversation's last run belongs, if the page at `path` is not it.

    A module of the site keeps its conversation until the next message; on all other
    pages only an unfinished run does.
    """
    if run is None or _bare(run.page_path) in ("", _bare(path)):
        return None
    scope = RunScope(run, user)
    try:
        label = _label(scope) if _is_left(scope, path) else ""
        route = page_path(scope.module.get_route(scope.context)) if label else ""
    except Exception:
        logger.exception("module %r could not be named", scope.module.id)
        return None
    if not route or _bare(route) == _bare(path):
        return None
    return Origin(label=label[:LABEL_CHARS], route=route)


def _is_left(scope: RunScope, path: str) -> bool:
    if not _is_own(scope):
        return scope.run.state in UNFINISHED
    here, there = page_info(path), scope.context.page
    is_same_module = module_for(here.view_name) is scope.module
    return not is_same_module or there.object_id != here.object_id


def _label(scope: RunScope) -> str:
    label = scope.module.get_label(scope.context) if _is_own(scope) else ""
    if label or scope.run.state not in UNFINISHED:
        return label
    page = find_page(scope.run.page_path, scope.run.page_title)
    # Django writes titles with what matters first.
    said = scope.run.page_title.partition(" | ")[0].strip()
    return said or (page_title(page) if page else "")


def _is_own(scope: RunScope) -> bool:
    return scope.module.id in registry.modules()


def _bare(path: str) -> str:
    return path.partition("#")[0].partition("?")[0]
