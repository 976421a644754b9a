"""How the person has left the panel: a small cookie, written by the browser."""

from dataclasses import dataclass
from urllib.parse import parse_qs
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

COOKIE = "aia_ui"
YEAR_S = 365 * 24 * 3600
LOOK_COOKIE = "aia_look"  # "1": the assistant is to change nothing
MAX_CHARS = 200
MODES = ("dock", "float")
WIDTHS = range(320, 801, 20)
DEFAULT_WIDTH = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """`conversation` is a UUID or empty, `width` in CSS pixels."""

    is_open: bool = False
    is_busy: bool = False  # a run was under way when the panel was closed
    mode: str = "dock"
    width: int = DEFAULT_WIDTH
    conversation: str = ""
    look_only: bool = False  # the assistant is to change nothing


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
        width=_width(values.get("w", "")),
        conversation=_uuid(values.get("c", "")),
        look_only=looks_only,
    )


def write_layout(response: HttpResponse, layout: Layout) -> None:
    """Say it for the browser, where no script does."""
    value = f"o={layout.is_open:d}&m={layout.mode}&w={layout.width}"
    _set(response, COOKIE, f"{value}&c={layout.conversation}")
    if layout.look_only:
        _set(response, LOOK_COOKIE, "1")
    else:
        response.delete_cookie(LOOK_COOKIE, samesite="Lax")


def _set(response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=YEAR_S,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _width(said: str) -> int:
    width = int(said) if said.isascii() and said.isdigit() and len(said) < 5 else 0
    return width if width in WIDTHS else DEFAULT_WIDTH


def _uuid(said: str) -> str:
    try:
        return str(UUID(said))
    except ValueError:
        return ""
