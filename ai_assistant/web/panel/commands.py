"""Prompt commands in the panel: the palette, what a command asks, answers, one's own."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from ai_assistant.configuration.command_arguments import hint_of
from ai_assistant.configuration.own_commands import (
    delete_own,
    own_commands,
    save_own,
    shared_commands,
)
from ai_assistant.configuration.setup import resolve
from ai_assistant.engine import service
from ai_assistant.engine.queries import question_of_run
from ai_assistant.engine.storage.units import in_db, in_tool_thread, unit
from ai_assistant.exceptions import ArgumentsMissing, CommandAnswered, Refused
from ai_assistant.models import clock
from ai_assistant.modules.resolve import page_context
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.markdown import render as render_markdown
from ai_assistant.types import PromptCommand
from ai_assistant.web.panel.access import FETCHED, back, own_page, panel_view
from ai_assistant.web.panel.fields import page_path, read_uuid
from ai_assistant.web.panel.panel import bare_panel

ARGUMENT = "argument-"  # how the fields of a command's form begin
OF = "argument_of"  # the command that they are of
MOST_ARGUMENTS = 30
SEARCH_CHARS = 80
ANSWERED = 202  # the line was taken, and nothing was sent
SENT_AGAIN = (
    "conversation",
    "key",
    "path",
    "title",
    "text",
    "next",
    "profile",
    "agent",
)


def read_arguments(request: HttpRequest) -> dict[str, str]:
    """Return what was written into the form of a command that the text begins with."""
    named = request.POST.get(OF, "")
    text = request.POST.get("text", "").strip().lower()
    if not named or text.partition(" ")[0].partition("\n")[0] != f"/{named}":
        return {}
    found = {
        name.removeprefix(ARGUMENT): str(value)
        for name, value in request.POST.items()
        if name.startswith(ARGUMENT)
    }
    return dict(list(found.items())[:MOST_ARGUMENTS])


def ask_arguments(request: HttpRequest, missing: ArgumentsMissing) -> HttpResponse:
    """Return the form of what a command lacks: in the composer, or on a page."""
    context: dict[str, Any] = {
        "why": str(missing),
        "name": missing.name,
        "fields": missing.fields,
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/command_arguments.html", context)
    context["sent"] = {
        name: request.POST[name] for name in SENT_AGAIN if name in request.POST
    }
    context["look_only"] = request.POST.get("look_only", "")
    context["panel"] = bare_panel(request.user, back(request))
    return own_page(request, "ai_assistant/command_page.html", context, status=400)


def show_answer(request: HttpRequest, answered: CommandAnswered) -> HttpResponse:
    """
    Return what a command has answered itself.

    It is not stored: a list of commands or tools is of the moment, and no part of
    what the model is told.
    """
    answer, key = answered.answer, request.POST.get("key", "")
    context = {
        "name": answered.name,
        "key": key if key.replace("-", "").isalnum() else "",
        "blocks": [
            mark_safe(html)  # noqa: S308 - escaped and allow-listed by render.markdown
            for html in render_markdown(answer.text)
        ],
        "answer": answer,
        "now": clock.now(),
        "opens": page_path(answer.path) if answer.path else "",
        "conversation": read_uuid(request, "conversation"),
        "panel": bare_panel(request.user, back(request)),
    }
    if request.headers.get(FETCHED):
        name = "ai_assistant/command_answer.html"
        return render(request, name, context, status=ANSWERED)
    return own_page(request, "ai_assistant/command_answer_page.html", context)


@require_GET
@panel_view(use=True)
async def palette_view(request: HttpRequest) -> HttpResponse:
    """
    Return options of a list: the commands of a page, or the objects after an `@`.

    `of` is the sign, `q` what follows it.
    """
    # Code of the site says which are available: it may be slow.
    return await in_tool_thread(_palette, request)


def _palette(request: HttpRequest) -> HttpResponse:
    path = page_path(request.GET.get("path", ""))
    context = page_context(request.user, path, request.GET.get("title", ""))
    if request.GET.get("of") == "@":
        found = service.find_mentions(context, request.GET.get("q", "")[:SEARCH_CHARS])
        return render(request, "ai_assistant/palette_mentions.html", {"found": found})
    commands = sorted(resolve(context).commands.values(), key=_in_turn)
    options: list[Entry] = [
        {
            "name": one.name,
            "description": one.description,
            "hint": hint_of(one),
            "is_own": one.owner_id is not None,
        }
        for one in commands
    ]
    return render(request, "ai_assistant/palette_commands.html", {"options": options})


def _in_turn(command: PromptCommand) -> tuple[bool, bool, str]:
    """Sort the commands of the site and of people first, then /help."""
    is_built_in = command.origin.startswith("ai_assistant.")
    return is_built_in, command.name != "help", command.name


@require_http_methods(["GET", "POST"])
@panel_view(use=True)
async def commands_view(request: HttpRequest) -> HttpResponse:
    """
    Show one's commands, or the form that makes one of a message (GET); save, delete.

    `run` names the answer to the message.
    """
    if request.method == "GET":
        return await in_tool_thread(_form if "run" in request.GET else _list, request)
    if request.POST.get("do") == "delete":
        await in_db(unit(delete_own), request.user, _number(request))
        return await in_tool_thread(_list, request)
    try:
        row = await in_db(unit(_save), request)
    except Refused as refused:
        if not refused.code.startswith("command_"):
            raise
        return await in_db(_form_again, request, refused)
    return await in_db(_saved, request, row)


def _number(request: HttpRequest) -> int:
    said = request.POST.get("command", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 19 else 0


def _save(request: HttpRequest) -> Any:
    return save_own(
        request.user,
        name=request.POST.get("name", ""),
        text=request.POST.get("text", ""),
        description=request.POST.get("description", ""),
    )


def _list(request: HttpRequest) -> HttpResponse:
    path = page_path(request.GET.get("path", ""))
    known = resolve(page_context(request.user, path)).commands
    context = {
        "own": own_commands(request.user),
        "shared": shared_commands(known),
        "panel": bare_panel(request.user, back(request)),
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/command_list.html", context)
    return own_page(request, "ai_assistant/command_list_page.html", context)


def _form(request: HttpRequest) -> HttpResponse:
    """Draw the form that makes a command of a message: below it, or on a page."""
    message = question_of_run(request.user.pk, read_uuid(request, "run"))
    return _drawn_form(request, {"text": message.typed}, status=200)


def _form_again(request: HttpRequest, refused: Refused) -> HttpResponse:
    typed = {name: request.POST.get(name, "") for name in FIELDS}
    said = {
        "problem": str(refused),
        "problem_of": refused.code.removeprefix("command_"),
    }
    return _drawn_form(request, {**typed, **said}, status=400)


FIELDS = ("name", "text", "description")


def _drawn_form(request: HttpRequest, form: Entry, *, status: int) -> HttpResponse:
    said = request.POST.get("run") or request.GET.get("run", "")
    context = {
        "form": form,
        "run": said,
        "panel": bare_panel(request.user, back(request)),
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/command_form.html", context)
    name = "ai_assistant/command_form_page.html"
    return own_page(request, name, context, status=status)


def _saved(request: HttpRequest, row: Any) -> HttpResponse:
    sentence = _("Saved. Type /%(name)s to send it.") % {"name": row.name}
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/notice.html", {"notice": sentence})
    return _list(request)
