"""The banners above a conversation: of the site, of its page, and what can be undone."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.module_loading import import_string

from ai_assistant import conf
from ai_assistant.context.page import find_page, page_info
from ai_assistant.context.page_items import page_title
from ai_assistant.engine.service import RunScope
from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.changes import changes_of_runs, undo_offer
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.web.panel.fields import page_path

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Run

logger = logging.getLogger("ai_assistant")

LEVELS = ("info", "warn", "danger")


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteBanner:
    """A sentence of the site, and how loud it is: one of LEVELS."""

    text: str
    level: str = "warn"


def site_banner(request: HttpRequest) -> SiteBanner | None:
    """
    Return what AI_ASSISTANT["PANEL"]["BANNER"] says on the page of `request`.

    That is a dict with `text` and `level`, or the dotted path of a callable that takes
    the request and returns such a dict, a text, or None. A callable that fails is
    logged, and nothing is drawn.
    """
    said = conf.get("PANEL", "BANNER")
    try:
        if isinstance(said, str) and said:
            said = import_string(said)(request)
        return _banner_of(said)
    except Exception:  # code of the site
        logger.exception("AI_ASSISTANT['PANEL']['BANNER'] could not be drawn")
        return None


def _banner_of(said: object) -> SiteBanner | None:
    told = said if isinstance(said, Mapping) else {"text": said}
    text, level = told.get("text"), str(told.get("level") or "warn")
    if not text:
        return None
    return SiteBanner(text=str(text), level=level if level in LEVELS else "warn")


LABEL_CHARS = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The object or page that a conversation is about, and its path."""

    label: str
    route: str


def origin_of(run: "Run | None", user: Any, path: str) -> Origin | None:
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
        return not scope.run.is_final
    here, there = page_info(path), scope.context.page
    is_same_module = module_for(here) is scope.module
    return not is_same_module or there.object_id != here.object_id


def _label(scope: RunScope) -> str:
    label = scope.module.get_label(scope.context) if _is_own(scope) else ""
    if label or scope.run.is_final:
        return label
    page = find_page(scope.run.page_path, scope.run.page_title)
    # Django writes titles with what matters first.
    said = scope.run.page_title.partition(" | ")[0].strip()
    return said or (page_title(page) if page else "")


def _is_own(scope: RunScope) -> bool:
    return scope.module.id in registry.modules()


def _bare(path: str) -> str:
    return path.partition("#")[0].partition("?")[0]


KEPT = "aia_kept"  # names the run whose changes its person wants to keep


def offer_of(run: "Run | None", request: HttpRequest) -> Entry | None:
    """Return the changes of a conversation's last run, to be undone, unless kept."""
    if run is None or not run.is_final or request.COOKIES.get(KEPT) == str(run.pk):
        return None
    return undo_offer(changes_of_runs([run.pk]).get(run.pk))
