"""
The ASGI application of the demo project.

Static files are served here and not by a middleware: the demo needs no
`collectstatic`, with DJANGO_DEBUG=0 too, and a middleware that is not async would
send every request through two threads.
"""

import os

from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")
django_application = get_asgi_application()

# Its consumers import models, which only now are there.
from ai_assistant.routing import assistant_application  # noqa: E402

application = ASGIStaticFilesHandler(assistant_application(django_application))
