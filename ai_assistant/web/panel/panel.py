"""The context of the panel's templates."""

import uuid
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_permission_codename
from django.http import HttpRequest, QueryDict
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.profiles import offered_profiles
from ai_assistant.configuration.rows import refresh
from ai_assistant.configuration.setup import agent_named, has_agents, resolve
from ai_assistant.configuration.suggested import writers_for
from ai_assistant.engine.queries import (
    active_run_of,
    code_starts,
    count_unread,
    find_conversation,
    is_unused,
    last_run,
    run_of_code,
)
from ai_assistant.engine.service import cannot_execute, nothing_works
from ai_assistant.models import clock
from ai_assistant.modules.resolve import module_by_id, module_of, page_context
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.html.transcript.footer import usage_line
from ai_assistant.render.html.transcript.groups import origin_page
from ai_assistant.render.html.transcript.stale import StaleBar, bar_of, is_stale
from ai_assistant.render.html.transcript.state import (
    as_left_by,
    panel_state,
    queue_entry,
    without_begun,
)
from ai_assistant.render.html.transcript.thread import Drawn, read_thread
from ai_assistant.request_context import full_path
from ai_assistant.safety.identity.permissions import may_share, may_use
from ai_assistant.tools.followups import MOST
from ai_assistant.types import Suggestion
from ai_assistant.web.model_notice import ModelNotice, model_notice
from ai_assistant.web.panel.banners import (
    Elsewhere,
    Origin,
    SiteBanner,
    allowed_here,
    asks_always,
    disclaimer,
    elsewhere_of,
    is_dismissed,
    mark_of,
    offer_of,
    origin_of,
    site_banner,
)
from ai_assistant.web.panel.chips import (
    Chips,
    chips_of,
    looks_only,
    why_read_only,
)
from ai_assistant.web.panel.fields import page_path
from ai_assistant.web.panel.keyboard import key_signs
from ai_assistant.web.panel.layout import Layout, read_layout
from ai_assistant.web.panel.suggestions import headline_of, suggestions_of

VIEW_USAGE = "ai_assistant.view_usage"
ROUTES = (
    *("send", "stop", "queue", "retry", "regenerate", "edit_message", "branch"),
    *(
        "answer",
        "edit",
        "rows",
        "whole",
        "table",
        "message",
        "feedback",
        "raw",
        "conversations",
        "new",
        "palette",
        "commands",
        "export",
    ),
    *(
        "undo",
        "summary",
        "grants",
        "meter",
        "frames",
        "context",
        "keyboard",
        "claim",
        "result",
        "ws",
        "page",
        "full",
    ),
)


@dataclass(kw_only=True, slots=True)
class Viewer:
    """The user, and what the panel shows to them alone."""

    name: str
    can_use: bool
    can_share: bool = False
    shows_faults: bool = False  # of the site's own templates
    shows_usage: bool = False
    shows_tracebacks: bool = False  # of tools that have failed
    shows_raw: bool = False  # what an answer was made of
    user: Any = None
    _opens: dict[Any, bool] = field(default_factory=dict)

    def may_open(self, model: Any) -> bool:
        """Return whether the user may open the pages of a model in the admin."""
        if model not in self._opens:
            options = model._meta
            names = (get_permission_codename(do, options) for do in ("view", "change"))
            self._opens[model] = self.user is not None and any(
                self.user.has_perm(f"{options.app_label}.{name}") for name in names
            )
        return self._opens[model]


@dataclass(frozen=True, kw_only=True, slots=True)
class Empty:
    """What a panel says and offers where nothing was asked yet."""

    headline: str
    suggestions: list[Suggestion]
    awaited: range  # more that models suggest, asked for once this is shown
    allows: str  # what may be done on the page, in a sentence
    asks_always: bool  # before each change, whatever the site allows


@dataclass(kw_only=True, slots=True)
class PanelPage:
    """The page around the panel: what the assistant sees and may do there."""

    path: str
    opened: str = ""  # when it was, in milliseconds, as it says itself
    chips: Chips = field(default_factory=Chips)
    readonly: str = ""  # why it, or its object, is not changed
    looks_only: bool = False  # nothing else can be changed from it either
    stale: StaleBar | None = None  # if it shows one object
    empty: Empty | None = None  # what an empty panel says there

    @property
    def name(self) -> str:
        """Return the page as `asked_on` names that of a question."""
        return origin_page(self.path)

    @property
    def came_from(self) -> str:
        """Return the page from which the panel's own was opened, if that is known."""
        return page_path(QueryDict(urlsplit(self.path).query).get("next", ""))


@dataclass(kw_only=True, slots=True)
class Notices:
    """What stands above the conversation and below the composer."""

    trouble: SiteBanner | None = None  # why no message can be sent
    model: ModelNotice | None = None  # why no model would answer it
    banner: SiteBanner | None = None
    origin: Origin | None = None  # where the conversation belongs, if not here
    elsewhere: Elsewhere | None = None  # what code of the site has started
    undo: Entry | None = None  # the changes of the last run, if they can be undone
    disclaimer: str = ""
    disclaimer_mark: str = ""  # what the cookie holds once it has been dismissed


@dataclass(kw_only=True)
class Panel:
    """The panel of one user on one page."""

    viewer: Viewer
    page: PanelPage
    layout: Layout = field(default_factory=Layout)
    notices: Notices = field(default_factory=Notices)
    conversation: str = ""
    thread: Drawn = field(default_factory=lambda: Drawn(state="closed"))
    queue: Entry = field(default_factory=dict)  # what waits for the run under way
    usage: str = ""  # what the conversation has used
    is_shared: bool = False  # others may read it
    agents: dict[str, str] = field(default_factory=dict)  # to choose from, by name
    agent_of_page: str = ""  # of a conversation that begins there

    @cached_property
    def urls(self) -> dict[str, str]:
        return _urls(get_script_prefix(), get_urlconf() or settings.ROOT_URLCONF)

    @cached_property
    def key(self) -> str:
        """Return a fresh idempotency key, for the form without JavaScript."""
        return str(uuid.uuid4())

    @cached_property
    def now(self) -> int:
        """Return the moment in milliseconds: the page is as old as its panel."""
        return int(clock.nearly_now().timestamp() * 1000)

    @property
    def max_chars(self) -> int:
        return int(conf.get("LIMITS", "MESSAGE_CHARS"))

    @property
    def profile(self) -> str:
        """Return the profile that the user chose for the conversation."""
        run = self.thread.run
        if run is None:
            return DEFAULT
        of_module = module_by_id(run.module).configured.profile
        is_chosen = run.profile not in (self._profile_of_agent, of_module)
        return run.profile if is_chosen else DEFAULT

    @property
    def _profile_of_agent(self) -> str:
        agent = agent_named(self.agent)
        return agent.profile if agent is not None else ""

    @property
    def agent(self) -> str:
        """Return the name of the conversation's agent; empty for none."""
        return self.thread.run.agent if self.thread.run else self.agent_of_page

    @property
    def model_label(self) -> str:
        return offered_profiles()[DEFAULT]

    @cached_property
    def profiles(self) -> dict[str, str]:
        """Return the labels of the models to choose from, by profile; none of one."""
        offered = offered_profiles()
        return offered if len(offered) > 1 else {}

    @property
    def memories(self) -> str:
        """Return the address of what is remembered for the user; empty for none."""
        if not conf.get("MEMORY") or not self.viewer.can_use:
            return ""
        try:
            return reverse("admin:ai_assistant_memory_changelist")
        except NoReverseMatch:  # a site without Django's admin
            return ""

    @property
    def keys(self) -> str:
        """Return the keys that open the panel, as boot.js compares them."""
        return (
            key_signs(conf.get("PANEL", "SHORTCUTS")) if self.layout.shortcuts else ""
        )

    @property
    def shortcuts(self) -> dict[str, str]:
        """Return the site's keys that open the panel: signs for a script, and in words."""
        said = [str(one) for one in conf.get("PANEL", "SHORTCUTS")]
        first = said[0] if said else ""
        return {"signs": key_signs(said), "said": ", ".join(said), "first": first}

    @property
    def corner(self) -> str:
        """Return the corner of the launcher; without a shortcut it stays visible."""
        wanted = self.layout.corner or str(conf.get("PANEL", "LAUNCHER"))
        is_lost = self.layout.corner == "none" and not self.keys
        return "end" if is_lost else wanted


@lru_cache(maxsize=16)
def _urls(_prefix: str, _urlconf: str) -> dict[str, str]:
    """Return the addresses of the panel, one mapping for all tabs of a site."""
    return {name: reverse(f"ai_assistant:{name}") for name in ROUTES}


def bare_panel(user: Any, path: str) -> Panel:
    """Return what fragments need that are drawn without a page."""
    is_superuser = bool(getattr(user, "is_superuser", False))
    viewer = Viewer(
        name=user.get_username(),
        can_use=may_use(user),
        can_share=may_share(user),
        shows_faults=settings.DEBUG or is_superuser,
        shows_usage=user.has_perm(VIEW_USAGE),
        shows_tracebacks=settings.DEBUG and is_superuser,
        shows_raw=is_superuser,
        user=user,
    )
    return Panel(viewer=viewer, page=PanelPage(path=path))


def closed_panel(request: HttpRequest, layout: Layout) -> Panel:
    """Return the panel of a page where it is closed: no query but permissions."""
    panel = bare_panel(request.user, full_path(request))
    panel.conversation = layout.conversation or str(uuid.uuid4())
    panel.layout = layout
    return panel


def drawn_panel(
    request: HttpRequest,
    layout: Layout,
    *,
    path: str = "",
    title: str = "",
    conversation: str = "",
) -> Panel:
    """Return the panel with its conversation, read from the rows."""
    refresh()
    panel = closed_panel(request, replace(layout, is_open=True))
    panel.page.path = path or panel.page.path
    _look_at_page(panel, request.user, title, conversation or layout.conversation)
    panel.notices.banner = site_banner(request)
    if not is_dismissed(request):
        panel.notices.disclaimer = disclaimer()
        panel.notices.disclaimer_mark = mark_of(request.user)
    _draw(panel, request.user, conversation or layout.conversation)
    panel.agents = _agents(panel, request.user)
    panel.notices.elsewhere = elsewhere_of(request.user, panel.conversation)
    panel.notices.model = model_notice(request.user, panel.profile)
    panel.notices.undo = offer_of(panel.thread.run, request)
    return panel


def _draw(panel: Panel, user: Any, named: str) -> None:
    page, conversation = panel.page, find_conversation(user.pk, named)
    if conversation is None:
        # A first message may be on its way to a conversation that has no row yet.
        panel.conversation = named if is_unused(named) else str(uuid.uuid4())
        panel.thread = Drawn()
        page.empty = _empty(user, page)
        return
    panel.conversation = str(conversation.pk)
    # First the queue: what was begun meanwhile is in the thread.
    queue = queue_entry(conversation.pk)
    panel.thread = read_thread(conversation)
    run = panel.thread.run
    panel.queue = without_begun(as_left_by(queue, run), run)
    panel.is_shared = conversation.open_link is not None
    panel.usage = usage_line(conversation.pk) if panel.viewer.shows_usage else ""
    panel.notices.origin = origin_of(panel.thread.run, user, page.path)


def _agents(panel: Panel, user: Any) -> dict[str, str]:
    """Return the labels of the agents to choose from, by name; none if there are none."""
    if not has_agents() and not panel.agent:
        return {}
    context = page_context(user, panel.page.path)
    offered = dict(resolve(context).agents)
    wanted = module_of(context).configured.agent
    panel.agent_of_page = wanted if wanted in offered else ""
    own = agent_named(panel.agent)
    if own is not None:  # it stays, on pages where it is not offered too
        offered.setdefault(own.name, own)
    if not offered and not panel.agent:
        return {}
    return {
        "": _("Assistant"),
        **{name: str(agent) for name, agent in offered.items()},
    }


def _empty(user: Any, page: PanelPage) -> Empty:
    context, readonly = page_context(user, page.path), bool(page.readonly)
    return Empty(
        headline=headline_of(context, page.chips, readonly=readonly),
        suggestions=suggestions_of(context, page.chips, readonly=readonly),
        awaited=range(MOST if writers_for(context) else 0),
        allows=allowed_here(context, readonly=readonly),
        asks_always=asks_always(context),
    )


def page_panel(
    user: Any,
    path: str,
    title: str,
    conversation: str,
    *,
    opened: str = "",
) -> Panel:
    """Return what the chips and the banner need of a page that is open already."""
    panel = bare_panel(user, path)
    panel.page.opened = opened
    _look_at_page(panel, user, title, conversation)
    last = last_run(find_conversation(user.pk, conversation))
    panel.notices.origin = origin_of(last, user, path)
    panel.notices.elsewhere = elsewhere_of(user, conversation)
    panel.notices.model = model_notice(user, last.profile if last else DEFAULT)
    return panel


def _look_at_page(panel: Panel, user: Any, title: str, conversation: str) -> None:
    if cannot_execute():
        panel.notices.trouble = SiteBanner(text=nothing_works(), level="danger")
    page = panel.page
    context = page_context(user, page.path, title, conversation)
    page.chips, page.readonly = chips_of(context), why_read_only(context)
    page.looks_only = bool(page.readonly) and looks_only(context)
    page.stale = bar_of(page.path)
    if page.stale and is_stale(page.path, page.opened, user.pk):
        page.stale = replace(page.stale, is_shown=True)


def panel_for(request: HttpRequest) -> Panel:
    """Return the panel of a page, open or closed as its cookie says."""
    layout = read_layout(request)
    if layout.is_open:
        return drawn_panel(request, layout)
    panel = closed_panel(request, layout)
    if layout.is_busy:
        panel.thread.state = unfinished_state(request.user, layout.conversation)
    is_over = panel.thread.state == "closed"
    if is_over:
        _show_of_code(panel, request.user)
    if is_over and (layout.is_busy or code_starts.are_used()):
        # It has ended, and no page was there to say so.
        panel.layout = replace(layout, unread=count_unread(request.user.pk))
    return panel


def _show_of_code(panel: Panel, user: Any) -> None:
    """Let the launcher lead to what code of the site has started for the person."""
    run = run_of_code(user.pk)
    if run is not None:
        panel.thread.state = panel_state(run, growing=True)
        panel.conversation = str(run.conversation_id)


def unfinished_state(user: Any, conversation_id: str) -> str:
    """Return what the launcher of a closed panel shows; one query."""
    if not conversation_id:
        return "closed"
    run = active_run_of(user.pk, conversation_id)
    return panel_state(run, growing=True) if run else "closed"
