"""One answer as Markdown: to be copied, or kept as a file."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from ai_assistant.engine.continued import whole_answer
from ai_assistant.engine.db import in_db
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.web.access import assistant_view
from ai_assistant.web.attachment import name_file
from ai_assistant.web.fields import read_uuid

MARKDOWN = "text/markdown; charset=utf-8"


@require_GET
@assistant_view(use=False)
async def message_view(request: HttpRequest) -> HttpResponse:
    """Return the text of an answer; with `as=file` to be saved under a name."""
    return await in_db(_message, request)


def own_run(request: HttpRequest) -> Run:
    """Return the run that the request names. Raise Http404 for another user's."""
    owner: Any = request.user.pk  # signed in
    runs = Run.objects.filter(user_id=owner, conversation__deleted_at=None)
    named = runs.filter(pk=read_uuid(request, "run"))
    run = named.select_related("conversation").first()
    if run is None:
        raise Http404
    return run


def markdown_of(run: Run) -> str:
    """
    Return what the assistant said in a run, as it wrote it, without its calls.

    Of one that goes on with a cut answer the parts above are taken along.
    """
    runs = whole_answer(run)
    said = Message.objects.filter(run_id__in=runs, role=Message.Role.ASSISTANT)
    texts = (message.text.strip() for message in said.order_by("position"))
    return "\n\n".join(text for text in texts if text)


def _message(request: HttpRequest) -> HttpResponse:
    run = own_run(request)
    text = markdown_of(run)
    if request.GET.get("as") != "file":
        return HttpResponse(text, content_type=MARKDOWN)
    response = HttpResponse(f"{text}\n", content_type=MARKDOWN)
    name_file(response, run.conversation.title, "md", otherwise="answer")
    return response
