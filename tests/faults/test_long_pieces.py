"""A piece of a background tool that takes longer than the lease of its call."""

from collections import Counter
from uuid import uuid4

import pytest

from tests.faults.scripts import call, marker
from tests.figures import FIGURE
from tests.servers.client import Person
from tests.thorough import IS_THOROUGH

pytestmark = [pytest.mark.faults, pytest.mark.postgres]

LEASE_S, PIECE_S = (4.0, 10.0) if IS_THOROUGH else (1.0, 2.5)
PIECES = 8


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["long_piece", "long_piece_once"])
def test_is_complete_and_was_begun_once(
    name, postgres_server, demo_server, model_server, oracle, record_property
):
    server = demo_server(
        forged=True,
        database_url=postgres_server.new_database(),
        env={
            "ASSISTANT_LEASE_S": str(LEASE_S),
            "TESTS_SETTINGS": f'{{"LIMITS": {{"BACKGROUND_THREADS": {PIECES}}}}}',
        },
    ).start()
    server.worker().start()  # the second process that sweeps
    tables = oracle(server)

    with Person(url=server.url).sign_in() as person:
        runs = []
        for number in range(PIECES):
            asked = call(name, key=f"piece-{number}", seconds=PIECE_S)
            script = f"{name}-{number}"
            model_server.script(script, [[asked], [{"op": "text", "text": "Done."}]])
            person.new_conversation()
            runs.append(person.ask(marker(script, uuid4().hex)))
        ended = [tables.wait_final(run, 20 * PIECE_S)["state"] for run in runs]

    found = Counter(one["status"] for run in runs for one in tables.calls(run))
    begun = {key: n for key, n in tables.external().items() if key.startswith("begun")}
    record_property(
        FIGURE,
        f"{PIECES} pieces of {PIECE_S:g} s by {name} under a lease of {LEASE_S:g} s: "
        f"{found['complete']} complete, begun {sorted(begun.values())} times",
    )
    assert found == {"complete": PIECES}
    assert begun == {f"begun-piece-{n}": 1 for n in range(PIECES)}
    assert set(tables.effects().values()) == {1}
    assert len(tables.effects()) == PIECES
    assert set(ended) == {"succeeded"}
    assert not tables.problems(runs)
