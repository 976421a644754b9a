"""What the panel says of a page: its banners, and what may be done there."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

from django.http import HttpRequest
from django.utils.module_loading import import_string
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.context.opened import page_request
from ai_assistant.context.page import SitePage, find_page, page_info
from ai_assistant.context.page_items import place_title
from ai_assistant.context.provided import is_withheld
from ai_assistant.engine.queries import run_of_code, waits_for_person
from ai_assistant.engine.service import RunScope
from ai_assistant.modules.resolve import is_of_site, is_page_open, module_for, module_of
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.changes import changes_of_runs, undo_offer
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.types import WRITING, RunContext, ToolDefinition
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
    is_same_module = module_for(here, scope.user).id == scope.module.id
    return not is_same_module or there.object_id != here.object_id


def _label(scope: RunScope) -> str:
    label = scope.module.get_label(scope.context) if _is_own(scope) else ""
    if label or scope.run.is_final:
        return label
    return place_title(scope.run.page_path, scope.run.page_title)


def _is_own(scope: RunScope) -> bool:
    return is_of_site(scope.module)


def _bare(path: str) -> str:
    return path.partition("#")[0].partition("?")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """A conversation in which a run of the site's code goes on, or waits."""

    id: str
    title: str
    waits: bool  # for its person


def elsewhere_of(user: Any, conversation: str) -> Elsewhere | None:
    """Return where code of the site has started a run, if that is not `conversation`."""
    run = run_of_code(user.pk)
    if run is None or str(run.conversation_id) == conversation:
        return None
    return Elsewhere(
        id=str(run.conversation_id),
        title=run.conversation.title,
        waits=bool(waits_for_person(run)),
    )


COOKIE = "aia_read"  # the line below the composer is dismissed
KEPT = "aia_kept"  # names the run whose changes its person wants to keep


def offer_of(run: "Run | None", request: HttpRequest) -> Entry | None:
    """Return the changes of a conversation's last run, to be undone, unless kept."""
    if run is None or not run.is_final or request.COOKIES.get(KEPT) == str(run.pk):
        return None
    return undo_offer(changes_of_runs([run.pk]).get(run.pk))


# --- what may be done there ---


def allowed_here(context: RunContext, *, readonly: bool) -> str:
    """
    Return what is allowed on the page of `context`; empty if that is not known.

    `readonly`: nothing may be changed there. May ask the database for permissions.
    """
    try:
        page = find_page(context.page_path)
        module = module_of(context)
        if page is None or page.model_admin is None or not are_enabled(context):
            return ""
        if not is_page_open(page, module, context.user):
            return ""
        return _of_model(page, context, readonly=readonly)
    except Exception:  # code of the site: its ModelAdmin
        logger.exception("what is allowed on %r is not known", context.page_path)
        return ""


def _of_model(page: SitePage, context: RunContext, *, readonly: bool) -> str:
    admin = page.model_admin
    names = {"models": capfirst(str(admin.opts.verbose_name_plural))}
    if is_withheld(page):
        return _("%(models)s are kept from the assistant on this page.") % names
    if not admin.has_view_permission(page_request(page, context.user)):
        return ""
    if readonly:
        return _("On this page the assistant can look up %(models)s.") % names
    return (
        _(
            "On this page the assistant can look up %(models)s and propose changes to "
            "them."
        )
        % names
    )


def asks_always(context: RunContext) -> bool:
    """Return whether every tool that writes asks the person before it does."""
    writing = [one for one in registry.tools().values() if one.effect in WRITING]

    def asks(tool: ToolDefinition) -> bool:
        verdict = tool_verdict(tool, user=context.user, module=context.module)
        return verdict.decision != "allow"

    return value_or(False, lambda: all(map(asks, writing)))


def disclaimer() -> str:
    """Return the line: the site's, or our own; empty if there is to be none."""
    said = conf.get("PANEL", "DISCLAIMER")
    if said == "auto":
        return _("The assistant can be wrong. Check what matters.")
    return str(said)


def mark_of(user: Any) -> str:
    """Return what the cookie holds once `user` has dismissed the line as it is now."""
    said = conf.get("PANEL", "DISCLAIMER")  # in any language
    return f"{crc32(f'{user.pk}:{said}'.encode()):08x}"


def is_dismissed(request: HttpRequest) -> bool:
    """Return whether the user of `request` has read the line in this browser."""
    return request.COOKIES.get(COOKIE) == mark_of(request.user)
