"""Which keys do what in the panel, for people to look up."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.engine.db import in_db
from ai_assistant.web.access import FETCHED, assistant_view
from ai_assistant.web.layout import Layout, read_layout
from ai_assistant.web.own_pages import own_page


@require_GET
@assistant_view(use=False)
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
    opens = [str(one) for one in conf.get("SHORTCUTS")] if layout.shortcuts else []
    rows = [(opens, _("Open the assistant, write to it, close it"))] if opens else []
    return [
        *rows,
        (["F6"], _("Go from the page to the assistant and back")),
        (["Ctrl+Enter" if layout.ctrl_enter else "Enter"], _("Send the message")),
        (["Enter" if layout.ctrl_enter else "Shift+Enter"], _("Start a new line")),
        (["@"], _("Point at something on the page")),
        (["↑", "↓"], _("In an empty field: what you have sent before")),
        (["Alt+Q"], _("Ask about the selected text")),
        (["Esc"], _("Close a menu, stop the answer, leave the field")),
        (["Alt+↑", "Alt+↓"], _("Go to the message before, or after")),
        (["Alt+A"], _("Go to what waits for your approval")),
        (["Ctrl+Shift+O"], _("Begin a new conversation")),
        (["Ctrl+Shift+H"], _("Show the list of conversations")),
        (["?"], _("Show this map, unless you are typing")),
    ]
