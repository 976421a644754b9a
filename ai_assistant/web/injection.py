"""The panel of a page, drawn: what its head gets, what its body, and the link to it."""

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.files.storage import storages
from django.http import HttpRequest
from django.template import Context, Engine, Template
from django.template.context import make_context
from django.template.loader import get_template
from django.template.loaders.cached import Loader as CachedLoader
from django.templatetags.static import static
from django.utils.formats import localize
from django.utils.safestring import SafeString
from django.utils.translation import trans_real

from ai_assistant.web.panel.layout import bridge, nonce_of
from ai_assistant.web.panel.panel import Panel, panel_for

TEMPLATES = ("injection_head", "injection_body", "skip")
# What these include while the panel is closed.
INCLUDED = ("panel", "busy", "place", "host_htmx", "grips", "launcher")
OWN_FOLDER = str(Path(__file__).parents[1] / "templates" / "ai_assistant") + "/"
STATIC_FILES = ("panel.css", "code.css", "boot.js", "panel.js")
URLS = ("ws", "frames", "page", "claim", "result", "full")
MAX_FORMATS = 256

# Storages of these packages have one address for a file as long as they live. Others
# may sign it, or have one for each tenant.
FIXED_STORAGES = {"django", "whitenoise", "builtins"}

PLACE = re.compile("\ue000(.*?)\ue000")  # characters that no template has


def drawn_parts(request: HttpRequest) -> list[SafeString]:
    """
    Return the panel of a page: what its head gets, what its body, and the link to it.

    Most pages have a closed panel, drawn by the templates as they are delivered: then
    only some values differ from page to page. They are put into a format string, made
    of the same templates. All other panels are rendered.
    """
    panel = panel_for(request)
    top: list[Any] = [get_template(f"ai_assistant/{name}.html") for name in TEMPLATES]
    templates = None if panel.layout.is_open else _all_of(top)
    if templates is None:
        return _rendered(request, panel, top)
    nonce = nonce_of(request)
    look = _look_of(panel, has_nonce=bool(nonce))
    catalog = trans_real.catalog() if settings.USE_I18N else None
    key = (look, templates, _static_addresses(), catalog)
    formats = _formats.get(key)
    values = _values(panel, nonce)
    if formats:
        return [SafeString(text % values) for text in formats]
    drawn = _rendered(request, panel, top)
    if formats is None:
        made = _made(look, templates)
        is_same = [text % values for text in made] == drawn
        _keep(key, made if is_same else ())
    return drawn


def _rendered(request: HttpRequest, panel: Panel, top: list[Any]) -> list[SafeString]:
    """Render the panel; the context processors of the site are called once for it."""
    autoescape = top[0].backend.engine.autoescape
    context = make_context({"panel": panel}, request, autoescape=autoescape)
    with context.bind_template(top[0].template):
        return [each.template.render(context) for each in top]


# --- format strings of closed panels ---


class Look(NamedTuple):
    """What the templates of a closed panel decide by. It names nobody."""

    mode: str
    has_width: bool
    shows_navigation: bool
    shows_filter: bool
    ctrl_enter: bool
    unread: int
    corner: str
    keys: str
    state: str
    is_readonly: bool
    can_use: bool
    has_nonce: bool


# By look, templates, addresses of static files and language. Empty: rendering differs.
_formats: dict[Any, tuple[str, ...]] = {}


def _keep(key: Any, formats: tuple[str, ...]) -> None:
    if len(_formats) >= MAX_FORMATS:
        _formats.clear()
    _formats[key] = formats


def _look_of(panel: Panel, *, has_nonce: bool) -> Look:
    layout = panel.layout
    return Look(
        mode=layout.mode,
        has_width=layout.width > 0,
        shows_navigation=layout.shows_navigation,
        shows_filter=layout.shows_filter,
        ctrl_enter=layout.ctrl_enter,
        unread=layout.unread,
        corner=panel.corner,
        keys=panel.keys,
        state=panel.thread.state,
        is_readonly=bool(panel.page.readonly),
        can_use=panel.viewer.can_use,
        has_nonce=has_nonce,
    )


def _values(panel: Panel, nonce: str) -> Mapping[str, str]:
    """Return what differs from page to page and person to person, escaped."""
    layout, thread, urls = panel.layout, panel.thread, panel.urls
    values = {
        "nonce": nonce,
        "name": localize(panel.viewer.name),
        "width": layout.width,
        "height": layout.height,
        "run": thread.run_id,
        "seq": thread.seq,
        "conversation": panel.conversation,
        "now": panel.now,
        **{name: urls[name] for name in URLS},
    }
    return {name: escape(str(value)) for name, value in values.items()}


def _made(look: Look, templates: tuple[Template, ...]) -> tuple[str, ...]:
    """
    Return format strings of the closed panels with one look; empty if there are none.

    The templates are rendered for nobody: without a request, a person or an address,
    with a place for each value. So no format can hold anything of a page's own.
    """
    unknown: list[str] = []
    context = _Nobody({"panel": _panel_of(look, unknown)})
    context.request.csp_nonce = _place("nonce") if look.has_nonce else ""
    with context.bind_template(templates[0]):
        drawn = [each.render(context) for each in templates[: len(TEMPLATES)]]
    if unknown:
        return ()
    return tuple(PLACE.sub(r"%(\1)s", text.replace("%", "%%")) for text in drawn)


def _place(name: str) -> str:
    return f"\ue000{name}\ue000"


class _Nobody(Context):
    """The context of a format: what is asked of its request is a nonce alone."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(dict(values))
        self.request = SimpleNamespace()


class _Known(dict[str, Any]):
    """What a template may ask for. It notes what else it asks for."""

    def __init__(self, unknown: list[str], /, **values: Any) -> None:
        super().__init__(values)
        self._unknown = unknown

    def __missing__(self, name: str) -> Any:
        self._unknown.append(name)
        raise KeyError(name)


def _panel_of(look: Look, unknown: list[str]) -> _Known:
    """Return what stands for `Panel`, with places in the place of values."""
    layout = _Known(
        unknown,
        is_open=False,
        mode=look.mode,
        width=_place("width") if look.has_width else 0,
        height=_place("height"),
        unread=look.unread,
        ctrl_enter=look.ctrl_enter,
        shows_navigation=look.shows_navigation,
        shows_filter=look.shows_filter,
    )
    thread = {"state": look.state, "run_id": _place("run"), "seq": _place("seq")}
    return _Known(
        unknown,
        layout=layout,
        thread=_Known(unknown, **thread),
        page=_Known(unknown, readonly=look.is_readonly),
        viewer=_Known(unknown, name=_place("name"), can_use=look.can_use),
        urls=_Known(unknown, **{name: _place(name) for name in URLS}),
        conversation=_place("conversation"),
        now=_place("now"),
        corner=look.corner,
        keys=look.keys,
    )


# --- what is the same for all pages of a process ---


def _all_of(top: list[Any]) -> tuple[Template, ...] | None:
    """Return all templates of a closed panel; None if one is the site's own."""
    engine = top[0].backend.engine
    if not _keeps_templates(engine):
        return None
    included = (engine.get_template(f"ai_assistant/{name}.html") for name in INCLUDED)
    templates = (*(each.template for each in top), *included)
    return templates if _are_own(templates) else None


def _keeps_templates(engine: Engine) -> bool:
    # Otherwise they are compiled for each page, and none is met again.
    loaders = engine.template_loaders
    return engine.autoescape and all(isinstance(one, CachedLoader) for one in loaders)


@lru_cache(maxsize=16)
def _are_own(templates: tuple[Template, ...]) -> bool:
    return all(each.origin.name.startswith(OWN_FOLDER) for each in templates)


def _static_addresses() -> tuple[str, ...]:
    """Return the addresses of all static files that a closed panel names."""
    files = tuple(f"ai_assistant/{name}" for name in STATIC_FILES)
    if own_sheet := bridge():  # of the theme, where it has one
        files = (*files, own_sheet)
    if apps.is_installed("django.contrib.staticfiles"):
        storage = storages["staticfiles"]
        kind: Any = type(storage)
        if _is_fixed(kind):
            return _fixed_addresses(storage, files, _debug=settings.DEBUG)
    return tuple(map(static, files))


@lru_cache(maxsize=16)
def _fixed_addresses(
    _storage: Any, files: tuple[str, ...], *, _debug: bool
) -> tuple[str, ...]:
    return tuple(map(static, files))


@lru_cache(maxsize=16)
def _is_fixed(storage: Any) -> bool:
    packages = {base.__module__.partition(".")[0] for base in storage.__mro__}
    return packages <= FIXED_STORAGES
