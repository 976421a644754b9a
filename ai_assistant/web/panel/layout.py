"""Where the panel stands, and what the page around it asks of its styles and scripts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qs
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from ai_assistant import conf

# Apps, and names of their bridge sheets.
INSTALLED = ("unfold", "jazzmin", "admin_interface", "grappelli")
SHEETS = (*INSTALLED, "none")


def bridge() -> str:
    """
    Return the static file that gives the panel the page's colours; empty: none needed.

    The panel's own sheet knows the variables of Django's admin.
    """
    named = str(conf.get("PANEL", "THEME"))
    if named == "auto":
        named = next(filter(apps.is_installed, INSTALLED), "admin")
    return f"ai_assistant/themes/{named}.css" if named in SHEETS else ""


def nonce_of(request: object) -> str:
    """Return the nonce of a page's content security policy; empty if it has none."""
    # django-csp's, or Django's own; either is made when it is read.
    nonce = getattr(request, "csp_nonce", "") or getattr(request, "_csp_nonce", None)
    return "" if nonce is None else str(nonce)


COOKIE = "aia_ui"
YEAR_S = 365 * 24 * 3600
LOOK_COOKIE = "aia_look"  # "1": the assistant is to change nothing
MAX_CHARS = 200
MODES = ("dock", "float")
STEP = 20  # CSS pixels: places are kept in steps, a width has a rule in panel.css
WIDTHS = range(320, 801, STEP)
CORNERS: Mapping[str, str] = {"e": "end", "s": "start", "n": "none"}
MAX_UNREAD = 999
MIN_HEIGHT = 16  # steps
HEIGHTS, XS, YS = range(MIN_HEIGHT, MIN_HEIGHT + 64), range(256), range(64)


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """
    The floating window, in steps of 20 CSS pixels.

    `x` is counted from the inline end of the viewport, `y` from its lower edge: a
    window in its corner stays there when the viewport changes. `place.js` draws it
    from the cookie, and the style sheet keeps it inside the viewport.
    """

    height: int = 32
    x: int = 1
    y: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """
    `conversation` is a UUID or empty.

    `width` is in CSS pixels; nobody has chosen one if it is 0, and panel.css takes
    what fits the window.
    """

    is_open: bool = False
    is_busy: bool = False  # a run was under way when the panel was closed
    mode: str = "dock"
    width: int = 0
    window: Window = Window()
    conversation: str = ""
    corner: str = ""  # of the launcher, if the person chose one
    ctrl_enter: bool = False  # Enter starts a line, Ctrl+Enter sends
    shortcuts: bool = True  # keys open the panel
    unread: int = 0  # unread answers
    look_only: bool = False  # the assistant is to change nothing
    shows_navigation: bool = False  # of the page, beside a docked panel
    shows_filter: bool = False  # of a change list, beside a docked panel

    @property
    def height(self) -> int:
        """Return the height of the floating window, in CSS pixels."""
        return self.window.height * STEP


def read_layout(request: HttpRequest) -> Layout:
    """Return the layout of the cookie; nonsense in it counts as not said."""
    raw = request.COOKIES.get(COOKIE, "")
    looks_only = request.COOKIES.get(LOOK_COOKIE) == "1"
    if len(raw) > MAX_CHARS:
        return Layout(look_only=looks_only)
    values = {key: said[0] for key, said in parse_qs(raw).items()}
    mode = values.get("m", "")
    return Layout(
        is_open=values.get("o") == "1",
        is_busy=values.get("b") == "1",
        mode=mode if mode in MODES else MODES[0],
        width=_number(values.get("w", ""), WIDTHS, 0),
        window=_window(values.get("p", "")),
        conversation=_uuid(values.get("c", "")),
        corner=CORNERS.get(values.get("l", ""), ""),
        ctrl_enter=values.get("e") == "1",
        shortcuts=values.get("k") != "0",
        unread=_number(values.get("n", ""), range(MAX_UNREAD + 1), 0),
        look_only=looks_only,
        shows_navigation="n" in values.get("f", ""),
        shows_filter="f" in values.get("f", ""),
    )


def write_layout(response: HttpResponse, layout: Layout) -> None:
    """Say it for the browser, where no script does."""
    _set(response, COOKIE, _as_cookie(layout))
    if layout.look_only:
        _set(response, LOOK_COOKIE, "1")
    else:
        response.delete_cookie(LOOK_COOKIE, samesite="Lax")


def close_panel(request: HttpRequest, response: HttpResponse) -> None:
    """Let the page of `response` be drawn without the panel, which may be open over it."""
    layout = read_layout(request)
    if layout.is_open:
        write_layout(response, replace(layout, is_open=False))
        request.COOKIES[COOKIE] = response.cookies[COOKIE].value


def _as_cookie(layout: Layout) -> str:
    window = layout.window
    corner = next((key for key, name in CORNERS.items() if name == layout.corner), "")
    said = {
        "m": layout.mode,
        "w": f"{layout.width or ''}",
        "c": layout.conversation,
        "b": "1" if layout.is_busy else "",
        "p": f"{window.height}.{window.x}.{window.y}" if window != Window() else "",
        "l": corner,
        "e": "1" if layout.ctrl_enter else "",
        "k": "" if layout.shortcuts else "0",
        "n": f"{layout.unread or ''}",
        "f": "n" * layout.shows_navigation + "f" * layout.shows_filter,
    }
    given = [f"{key}={value}" for key, value in said.items() if value]
    return "&".join([f"o={layout.is_open:d}", *given])


def _set(response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=YEAR_S,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _window(said: str) -> Window:
    parts = said.split(".")
    if len(parts) != 3:
        return Window()
    height, x, y = (
        _number(part, allowed, -1)
        for part, allowed in zip(parts, (HEIGHTS, XS, YS), strict=True)
    )
    return Window() if -1 in (height, x, y) else Window(height=height, x=x, y=y)


def _number(said: str, allowed: range, other: int) -> int:
    is_number = said.isascii() and said.isdigit() and len(said) < 5
    return number if is_number and (number := int(said)) in allowed else other


def _uuid(said: str) -> str:
    try:
        return str(UUID(said))
    except ValueError:
        return ""
