"""ASGI applications that have the assistant in them, or not."""

from functools import partial

from channels.routing import ProtocolTypeRouter
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

from ai_assistant.routing import assistant_application

plain = get_asgi_application()
wrapped = assistant_application(plain)
in_static = ASGIStaticFilesHandler(wrapped)
in_router = ProtocolTypeRouter({"http": wrapped, "websocket": wrapped})


def _measured(application):
    async def measured(scope, receive, send):
        await application(scope, receive, send)

    return measured


in_function = _measured(in_static)
in_partial = partial(_measured, wrapped)
