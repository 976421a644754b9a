"""A program with an access token, in the process of the test."""

import json
from typing import Any

from django.test import Client

from ai_assistant.safety.identity.tokens import issue

EVERY = ("read", "run", "approve")
API = "/assistant/api/"


class Program:
    """Calls the API as `user`, with a token of these scopes."""

    def __init__(self, user, scopes=EVERY) -> None:
        self.user = user
        self.token, secret = issue(user, "test", scopes)
        self.http = Client(headers={"authorization": f"Bearer {secret}"})

    def get(self, path: str = "", **params: Any):
        return self.http.get(API + path, params)

    def post(self, path: str, body: Any = None, *, key: str = "", method="post"):
        headers = {"idempotency-key": key} if key else {}
        data = body if isinstance(body, bytes) else json.dumps(body or {})
        send = getattr(self.http, method)
        return send(API + path, data, content_type="application/json", headers=headers)

    def start(self, text="Hello", *, key="", **body):
        return self.post("runs/", {"text": text, **body}, key=key)


def code(response) -> str:
    """Return the code of a problem, which has the form of one."""
    assert response.headers["Content-Type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    assert {"type", "title", "detail"} < body.keys()
    return body["code"]
