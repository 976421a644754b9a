"""What the data tools cost beside the admin itself: reads, writes, previews, cards."""

import os
import subprocess
import sys
from pathlib import Path


def measure(_base: str, folder: Path) -> None:
    """Print the figures in a process of its own, with a database of its own."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.bench.data_settings",
        "DJANGO_DEBUG": "0",
        "DATABASE_URL": "",
        "AIA_BENCH_DB": str(folder / "data.sqlite3"),
    }
    subprocess.run([sys.executable, "-m", "tests.bench.data"], env=env, check=True)


def main() -> None:
    import django

    django.setup()
    from tests.bench import (
        data_cards,
        data_forms,
        data_pointing,
        data_reads,
        data_undo,
        data_writes,
    )
    from tests.bench.data_rows import make_rows

    rows = make_rows()
    data_reads.measure(rows)
    data_writes.measure(rows)
    data_forms.measure(rows)
    data_cards.measure(rows)
    data_undo.measure(rows)
    data_pointing.measure(rows)


if __name__ == "__main__":
    main()
