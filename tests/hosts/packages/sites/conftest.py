"""The tests of one site alone stand in its folder, and need its packages."""

import os
from pathlib import Path

NAME = os.environ.get("HOSTS_PACKAGE", "")
collect_ignore = [
    path.name
    for path in Path(__file__).parent.iterdir()
    if path.is_dir() and path.name != NAME
]
