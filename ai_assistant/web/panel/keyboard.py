"""The keys of the panel: what each does, and as the scripts compare them."""

from collections.abc import Iterable, Mapping
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.engine.storage.units import in_db
from ai_assistant.web.panel.access import FETCHED, own_page, panel_view
from ai_assistant.web.panel.layout import Layout, read_layout

# As boot.js lists them.
MODIFIERS: Mapping[str, int] = {"ctrl": 0, "cmd": 0, "shift": 1, "alt": 2}
FIRST_FUNCTION_KEY = 112  # the keyCode of F1


def key_signs(shortcuts: Iterable[str]) -> str:
    """
    Return what the panel's root names: "true,true,false,65" for Ctrl+Shift+A.

    Whether Ctrl, Shift and Alt are held, then the key's number. Ctrl means Cmd too.
    Raise ValueError for what is no shortcut.
    """
    return " ".join(_sign(one) for one in shortcuts)


@cache
def _sign(shortcut: str) -> str:
    *modifiers, key = [part.strip().lower() for part in shortcut.split("+")]
    unknown = [name for name in modifiers if name not in MODIFIERS]
    number = _key_number(key)
    pressed = {MODIFIERS[name] for name in modifiers if name in MODIFIERS}
    is_typed = number < FIRST_FUNCTION_KEY and not pressed & {0, 2}
    if unknown or not number or is_typed:
        raise ValueError(
            f"{shortcut!r} is not a shortcut. Write Ctrl or Alt, optionally Shift, "
            "and a letter, a digit or F1 to F12, joined by +: 'Ctrl+Shift+A'."
        )
    held = ",".join("true" if place in pressed else "false" for place in range(3))
    return f"{held},{number}"


def _key_number(key: str) -> int:
    """Return the browser's `keyCode`: it follows the layout of Latin keyboards."""
    if len(key) == 1 and key.isascii() and key.isalnum():
        return ord(key.upper())
    functions = [f"f{number}" for number in range(1, 13)]
    return FIRST_FUNCTION_KEY + functions.index(key) if key in functions else 0


@require_GET
@panel_view(use=False)
async def keyboard_view(request: HttpRequest) -> HttpResponse:
    """Show the keyboard map: as a fragment for a script, else on a page."""
    return await in_db(_draw, request)


def _draw(request: HttpRequest) -> HttpResponse:
    context = {"map": keyboard_map(read_layout(request))}
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/keyboard.html", context)
    return own_page(request, "ai_assistant/keyboard_page.html", context)


def keyboard_map(layout: Layout) -> list[tuple[list[str], str]]:
    """Return rows of keys, each way to press them, and what they do."""
    opens = conf.get("PANEL", "SHORTCUTS") if layout.shortcuts else []
    rows = [(opens, _("Open the assistant, write to it, close it"))] if opens else []
    return [
        *rows,
        (["F6"], _("Go from the page to the assistant and back")),
        (["Ctrl+Enter" if layout.ctrl_enter else "Enter"], _("Send the message")),
        (["Enter" if layout.ctrl_enter else "Shift+Enter"], _("Start a new line")),
        (["@"], _("Point at something on the page")),
        (["/"], _("Choose a command")),
        (["↑", "↓"], _("In an empty field: what you have sent before")),
        (["Alt+Q"], _("Ask about the selected text")),
        (["Esc"], _("Close a menu, stop the answer, leave the field")),
        (["↑", "↓"], _("In an answer: from one link or button to the next")),
        (["←", "→"], _("In the toolbar of an answer: from one button to the next")),
        (["Alt+↑", "Alt+↓"], _("Go to the previous or next message")),
        (["Alt+A"], _("Go to what waits for your approval")),
        (["Ctrl+Shift+O"], _("Begin a new conversation")),
        (["Ctrl+Shift+H"], _("Show the list of conversations")),
        (["?"], _("Show this map, unless you are typing")),
    ]
