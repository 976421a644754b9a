"""
`make hosts`: the site of each package, in an environment of its own.

`python -m tests.hosts.packages [NAME ...]`; with `--share` those of a sixth of all
sites that the last commit chooses. The last line counts the tests.
"""

import os
import re
import subprocess
import sys
import zlib
from collections import Counter

import pytest

from tests.hosts.packages.environment import (
    ROOT,
    UnsupportedError,
    constant,
    install,
    site_names,
)
from tests.servers.postgres import PostgresServer
from tests.thorough import commit

SHARES = 6
TESTS = "tests/hosts/packages"
OF_ROWS = (f"{TESTS}/test_same_rows.py", f"{TESTS}/test_undone.py")
OF_ALL = {
    "TENANT": "",
    "DJANGO_SETTINGS_MODULE": "tests.hosts.packages.settings",
}


def main(arguments: list[str]) -> int:
    """Run the sites; return 1 if a test has failed."""
    names = [one for one in arguments if not one.startswith("-")] or site_names()
    if "--share" in arguments:
        names = _share(names)
        print(f"Sites of this commit: {', '.join(names)}", flush=True)
    counts: Counter[str] = Counter()
    for name in names:
        counts += _run(name)
    print(", ".join(f"{counts[key]} {key}" for key in ("passed", "failed", "skipped")))
    return 1 if counts["failed"] else 0


def _share(names: list[str]) -> list[str]:
    chosen = commit() % SHARES
    return [one for one in names if zlib.crc32(one.encode()) % SHARES == chosen]


def _run(name: str) -> Counter[str]:
    """Run the tests of a site; return how many have passed, failed and were skipped."""
    try:
        folder = install(name)
    except UnsupportedError as error:
        print(f"{name}: SKIPPED, {error}", flush=True)
        return Counter(skipped=1)
    except subprocess.CalledProcessError:
        print(f"{name}: SKIPPED, its packages cannot be installed here", flush=True)
        return Counter(skipped=1)
    environment = {
        **os.environ,
        "HOSTS_PACKAGE": name,
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }
    tenants = constant(name, "TENANTS").split()
    if tenants:
        return _of_tenants(name, tenants, environment)
    return _tested(environment, TESTS)


def _of_tenants(
    name: str, tenants: list[str], environment: dict[str, str]
) -> Counter[str]:
    """
    Run the tests of a site for its first tenant, in one database of PostgreSQL.

    For the others those of rows: a browser sees nothing else there.
    """
    counts: Counter[str] = Counter()
    try:
        with PostgresServer() as server:
            own = {**environment, "HOSTS_DATABASE": server.new_database()}
            prepare = f"tests.hosts.packages.sites.{name}.prepare"
            command = [sys.executable, "-m", prepare]
            subprocess.run(command, check=True, cwd=ROOT, env=own | OF_ALL)
            for tenant in tenants:
                paths = OF_ROWS if counts else (TESTS,)
                counts += _tested({**own, "TENANT": tenant}, *paths)
    except pytest.skip.Exception as error:
        print(f"{name}: SKIPPED, {error}", flush=True)
        return Counter(skipped=1)
    return counts


def _tested(environment: dict[str, str], *paths: str) -> Counter[str]:
    name = " of ".join(
        filter(None, [environment["HOSTS_PACKAGE"], environment.get("TENANT")])
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *paths]
    options = [
        "--ds=tests.hosts.packages.settings",
        "-p",
        "no:cacheprovider",
        "-W",
        "default",
    ]
    done = subprocess.run(
        [*command, *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
    )
    counts = _counted(done.stdout)
    print(f"{name}: {done.stdout.strip().splitlines()[-1].strip(' =')}", flush=True)
    if done.returncode:
        print(done.stdout[-6000:], done.stderr[-2000:], sep="\n", flush=True)
        counts["failed"] = counts["failed"] or 1
    return counts


def _counted(output: str) -> Counter[str]:
    found = re.findall(r"(\d+) (passed|failed|skipped|error)", output.splitlines()[-1])
    counts: Counter[str] = Counter()
    for number, what in found:
        counts["failed" if what == "error" else what] += int(number)
    return counts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
