"""The same tests on PostgreSQL, in a process that has it as its database."""

import pytest

from tests.servers.postgres import passed_on

CHANGES = ("forms", "images", "statements", "files", "store", "compare", "pieces")
UNDO = ("forms", "edges", "tables", "columns")
FILES = (
    *[f"changes/test_{name}.py" for name in CHANGES],
    *[f"changes/undo/test_{name}.py" for name in UNDO],
    *("engine/undo", "project/questionnaires/assistant/designer/test_snapshot.py"),
    *("engine/calls/test_write_limit.py", "engine/intake/test_lookup.py"),
    *("engine/intake/test_starts.py", "hooks/test_lending.py"),
    *("engine/accounting/test_daily.py", "configuration/test_transfer.py"),
    *("admin/test_reports.py", "admin/test_lists.py"),
    *("engine/storage/test_clocks.py", "engine/storage/test_locked_rows.py"),
    "engine/storage/test_history.py",
    *(
        "models/test_clock.py",
        "models/test_raw_sql_inserts.py",
        "models/test_upgrade.py",
    ),
    *("safety/audit/test_audit.py", "safety/audit/test_sealing.py"),
    "web/panel/test_locked_rows.py",
)


PARTS = 4


@pytest.mark.broad
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", range(PARTS))
def test_same_tests_pass_on_postgresql(part, postgres_server):
    paths = [f"tests/{name}" for name in FILES[part::PARTS]]
    chosen = ("-m", "not servers and not faults", *paths)

    assert passed_on(postgres_server.new_database(), *chosen) > 100
