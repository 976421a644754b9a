"""Print how many queries a page takes, with and without the closed panel."""

import json

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client, override_settings  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402


def count(user: str, *, enabled: bool) -> int:
    client = Client(HTTP_HOST="localhost")
    assert client.login(username=user, password=user)
    own = {**settings.AI_ASSISTANT, "ENABLED": enabled}
    with override_settings(AI_ASSISTANT=own):
        client.get("/admin/")
        with CaptureQueriesContext(connection) as queries:
            page = client.get("/admin/")
        assert (b'id="aia"' in page.content) is enabled
    return len(queries)


if __name__ == "__main__":
    user = "editor"
    figures = {
        "with": count(user, enabled=True),
        "without": count(user, enabled=False),
    }
    print(json.dumps(figures))
