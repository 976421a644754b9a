"""Server-sent events as AG-UI frames them: `data:`, JSON, an empty line; LF only."""

from collections.abc import AsyncIterator

from ag_ui.core import BaseEvent
from django.http import HttpRequest, StreamingHttpResponse

CONTENT_TYPE = "text/event-stream"
KEEPALIVE = b": still here\n\n"


def frame(event: BaseEvent, event_id: str = "") -> bytes:
    """Return the frame of an event. `event_id` is for clients that attach again."""
    name = f"id: {event_id}\n" if event_id else ""
    return f"{name}data: {event.model_dump_json(by_alias=True)}\n\n".encode()


def stream_response(
    request: HttpRequest, frames: AsyncIterator[bytes]
) -> StreamingHttpResponse:
    """Return the response that sends `frames` as they come."""
    # A middleware that compresses would hold small pieces back.
    request.META["HTTP_ACCEPT_ENCODING"] = "identity"
    response = StreamingHttpResponse(frames, content_type=CONTENT_TYPE)
    response["Cache-Control"] = "private, no-store, no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response
