"""What TESTS_HOST says of the pages of the site."""

import json
import os
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

GetResponse = Callable[[HttpRequest], HttpResponse]


def wanted() -> dict[str, Any]:
    return json.loads(os.environ.get("TESTS_HOST", "{}"))


def host(_request: HttpRequest) -> dict[str, Any]:
    """Give templates the scripts and the configuration of htmx."""
    config = wanted().get("config")
    return {
        "host_scripts": wanted().get("scripts", []),
        "host_config": json.dumps(config) if config else "",
    }


def body_attributes(get_response: GetResponse) -> GetResponse:
    """Give the body its attributes, for which the admin has no block."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        attributes = wanted().get("body", "")
        if attributes and response.get("Content-Type", "").startswith("text/html"):
            tag = f"<body {attributes} ".encode()
            response.content = response.content.replace(b"<body ", tag, 1)
        return response

    return middleware
