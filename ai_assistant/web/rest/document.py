"""The document of the API: OpenAPI 3.1, as a file that is part of the app."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.web.rest.base import ApiView
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes import operation

FILE = Path(__file__).with_name("openapi.json")


class SchemaView(ApiView):
    """Tells what the API takes and answers."""

    @operation("schema_read", "Read this document", query=Query, answers={200: None})
    def get(self, request: Request) -> Response:
        """Return the document, with the address under which it is served here."""
        read_query(request, Query)
        servers = [{"url": reverse("ai_assistant:api").rstrip("/")}]
        return Response({**_document(), "servers": servers})


@cache
def _document() -> dict[str, Any]:
    """Return the file; `tools/openapi.py` writes it, and a test compares it."""
    document: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return document
