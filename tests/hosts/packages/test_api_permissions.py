"""
Whoever calls an operation of django-ninja gets what a request of theirs would have got.

Each request goes to the view over HTTP, with a session, and through `call_api`: status,
body and what is then in the tables have to be the same.
"""

import importlib
import json
import os

import pytest
from django.test import Client

if os.environ.get("HOSTS_PACKAGE") != "ninja":
    pytest.skip("of the site of django-ninja", allow_module_level=True)

from ai_assistant.tools.api.catalogue import catalogue
from ai_assistant.tools.api.kept import masked
from tests.hosts.packages.api import ROLES, outcome, requests_of
from tests.hosts.packages.rows import state
from tests.tools.api.calls import told

cases = importlib.import_module("tests.hosts.packages.sites.ninja.cases")
# What is no JSON, differs on purpose, or is rolled back here alone.
LEFT_OUT = {
    *("echo", "redirecting", "streaming", "file", "text", "sneaky", "sneaky_async"),
    *("elsewhere", "by_key", "mailing", "second"),
}
EXPECTED = {
    "superuser": {200, 201, 204, 404, 409, 422},
    "editor": {200, 201, 401, 403, 404, 409, 422},
    "customer": {200, 201, 204, 401, 404},
    "inactive": {401},
}


def over_http(client, operation, path, asked):
    has_body = operation.takes_body or operation.endpoint.has_body
    body = b"" if not has_body else json.dumps(asked.body)
    response = client.generic(
        operation.method,
        path,
        body,
        content_type="application/json",
        query_params=dict(asked.query),
    )
    body = response.json() if response.content else None
    return response.status_code, masked(body, operation.kept)


@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES)
def test_same_as_over_http(role):
    cases.make()
    known = catalogue()
    user = ROLES[role]()
    context, client = told(user), Client(headers={"accept": "application/json"})
    client.force_login(user)
    compared, different, before = set(), [], state()
    for operation in known.operations.values():
        if operation.name.split(".")[1] in LEFT_OUT:
            continue
        adapter = known.adapters[operation.id]
        for asked in requests_of(operation):
            path = adapter.check(operation, context, asked)

            def called():
                response = adapter.call(operation, context, asked)  # noqa: B023
                assert not response.unread, response
                return response.status, response.data

            real = outcome(lambda: over_http(client, operation, path, asked))  # noqa: B023
            ours = outcome(called)
            if operation.effect == "read":
                assert real[2] == ours[2] == before
            if real != ours:
                different.append((operation.id, asked, real[:2], ours[:2]))
            compared.add((operation.id, real[0]))

    assert different == []
    assert len({operation for operation, _status in compared}) >= 20
    assert {status for _id, status in compared} >= EXPECTED.get(role, {403})
