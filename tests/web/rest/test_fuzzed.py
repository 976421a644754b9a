"""
Schemathesis over the document of the API, as two users.

No answer is a 500, none is other than told, and neither user reads or writes a row of
the other's, whatever ids they send.
"""

import json
import random

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from ai_assistant.web.rest.schema import ApiSchemaGenerator
from tests.thorough import IS_THOROUGH
from tests.web.rest.live import Owned, fill, live_server, token

pytestmark = [pytest.mark.timeout(3600 if IS_THOROUGH else 600), pytest.mark.broad]

EXAMPLES = 50 if IS_THOROUGH else 1  # of each operation, mode and user
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
TOLD = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
# The rows of a user, by the table; those of a run hang on it.
OF_RUNS = (
    *("message", "step", "toolcall", "interrupt", "runevent", "changeset"),
    *("usageledger",),
)
LAST = ("get", "patch", "post", "delete")
FILTERS = ("run", "conversation", "call")


@pytest.fixture
def server(demo_server, model_server):
    return live_server(demo_server, model_server)


@pytest.fixture
def schema(server):
    document = ApiSchemaGenerator().get_schema()
    del document["servers"]
    return schemathesis.openapi.from_dict(document)


def test_every_answer_is_told_and_rows_stay_their_users(server, schema, oracle):
    database = oracle(server)
    tokens = {name: token(server, name) for name in ("admin", "editor")}
    statuses: set[int] = set()

    for names in (("admin", "editor"), ("editor", "admin")):
        caller, other = (fill(server, name, tokens[name]) for name in names)
        before = rows_of(database, other)
        for operation in operations(schema):
            for mode in MODES:
                statuses |= fuzz(operation, mode, caller, other)
        assert rows_of(database, other) == before
        for owned in (caller, other):
            owned.assistant.close()

    assert {200, 201, 400, 404} <= statuses
    assert not IS_THOROUGH or {204, 409} <= statuses
    assert "Traceback" not in server.output()


def operations(schema) -> list:
    """Return all operations; what takes rows away comes last."""
    found = [one.ok() for one in schema.get_all_operations()]
    return sorted(found, key=lambda one: (LAST.index(one.method), one.path))


def fuzz(operation, mode, caller: Owned, other: Owned) -> set[int]:
    """Call one operation many times, often with ids of the other; return statuses."""
    statuses: set[int] = set()
    headers = {"Authorization": f"Bearer {caller.token}"}

    @seed(5)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(
        case=operation.as_strategy(generation_mode=mode),
        dice=st.randoms(use_true_random=False),
    )
    def run(case, dice):
        owner = dice.choice((caller, other, None))
        is_seeded = owner is not None and mode == GenerationMode.POSITIVE
        if is_seeded:
            plant(case, owner, dice)
        response = case.call(base_url=caller.url, headers=headers, timeout=60)
        statuses.add(response.status_code)
        case.validate_response(response, checks=TOLD)
        said = response.content.decode("utf-8", "replace")
        assert not [word for word in other.secrets if word in said]
        # A superuser may undo what the assistant changed for others.
        is_open = operation.path.endswith("/undo/") and caller.name == "admin"
        if is_seeded and owner is other and "{id}" in operation.path and not is_open:
            assert response.status_code in (400, 404), said

    run()
    return statuses


def plant(case, owner: Owned, dice: random.Random) -> None:
    """Put ids of `owner` where the case has some."""
    kind = case.operation.path.strip("/").partition("/")[0]
    if "id" in (case.path_parameters or {}):
        case.path_parameters["id"] = dice.choice(owner.ids[kind])
    for name in FILTERS:
        if name in (case.query or {}):
            case.query[name] = dice.choice(owner.ids[f"{name}s"])
    if isinstance(case.body, dict):
        if "conversation" in case.body:
            case.body["conversation"] = dice.choice(owner.ids["conversations"])
        if "nonce" in case.body:
            case.body["nonce"] = owner.secrets[1]


def rows_of(database, owner: Owned) -> str:
    """Return every row of a user, as one text."""
    (user,) = database.rows("SELECT id FROM auth_user WHERE username = %s", owner.name)
    key = user["id"]
    tables = {
        "conversation": database.rows(
            "SELECT * FROM ai_assistant_conversation WHERE owner_id = %s ORDER BY id",
            key,
        ),
        "run": database.rows(
            "SELECT * FROM ai_assistant_run WHERE user_id = %s ORDER BY id", key
        ),
        "token": database.rows(
            "SELECT * FROM ai_assistant_accesstoken WHERE user_id = %s ORDER BY id", key
        ),
    }
    for name in OF_RUNS:
        tables[name] = database.rows(
            f"SELECT * FROM ai_assistant_{name} WHERE run_id IN "  # noqa: S608
            "(SELECT id FROM ai_assistant_run WHERE user_id = %s) ORDER BY 1",
            key,
        )
    tables["row"] = database.rows(
        "SELECT r.* FROM ai_assistant_rowchange r JOIN ai_assistant_changeset c "
        "ON c.id = r.change_set_id JOIN ai_assistant_run u ON u.id = c.run_id "
        "WHERE u.user_id = %s ORDER BY r.id",
        key,
    )
    assert all(tables.values()), [name for name in tables if not tables[name]]
    return json.dumps(tables, default=str, sort_keys=True)
