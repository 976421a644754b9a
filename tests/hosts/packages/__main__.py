"""
`make hosts`: the site of each package, in an environment of its own.

`python -m tests.hosts.packages [NAME ...]`; with `--share` those of a sixth of all
sites that the last commit chooses. Two run at a time. The last lines count the cards that
were shown twice, and the tests. With `--cpu` the tests are left out: it prints what the
writes of the forms take, and fails where that is over a limit.
"""

import re
import sys
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.hosts.packages import cpu
from tests.hosts.packages.environment import constant, run_in, site_names
from tests.servers.postgres import PostgresServer
from tests.thorough import commit

SHARES = 6
AT_A_TIME = 2  # each waits for its server and its browser
TESTS = "tests/hosts/packages"
MOST_SECOND = 0.02  # cards of all cases
OF_ROWS = (f"{TESTS}/test_same_rows.py", f"{TESTS}/test_undone.py")
SETTINGS = "tests.hosts.packages.settings"


def main(arguments: list[str]) -> int:
    """Run the sites; return 1 if a test has failed."""
    names = [one for one in arguments if not one.startswith("-")] or site_names()
    if "--share" in arguments:
        names = _share(names)
        print(f"Sites of this commit: {', '.join(names)}", flush=True)
    if "--cpu" in arguments:
        return cpu.measure(names)
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        # What takes longest is begun first.
        names = sorted(names, key=lambda name: not constant(name, "TENANTS"))
        for counted in pool.map(_run, names):
            counts += counted
    share = counts["second"] / max(counts["asked"], 1)
    asked = f"{counts['asked']} cases asked, {counts['second']} a second time"
    print(f"{asked}: {share:.1%}, at most {MOST_SECOND:.0%}")
    print(", ".join(f"{counts[key]} {key}" for key in ("passed", "failed", "skipped")))
    return 1 if counts["failed"] or share > MOST_SECOND else 0


def _share(names: list[str]) -> list[str]:
    """Return one of the parts, which are of the same size, each of unlike sites."""
    mixed = sorted(names, key=lambda name: zlib.crc32(name.encode()))
    return mixed[commit() % SHARES :: SHARES]


def _run(name: str) -> Counter[str]:
    """Run the tests of a site; return how many have passed, failed and were skipped."""
    tenants = constant(name, "TENANTS").split()
    return _of_tenants(name, tenants) if tenants else _tested(name, TESTS)


def _of_tenants(name: str, tenants: list[str]) -> Counter[str]:
    """
    Run the tests of a site for its first tenant, in one database of PostgreSQL.

    For the others those of rows: a browser sees nothing else there.
    """
    prepare = ("-m", f"tests.hosts.packages.sites.{name}.prepare")
    counts: Counter[str] = Counter()
    try:
        with PostgresServer() as server:
            own = {"HOSTS_DATABASE": server.new_database()}
            of_all = {"TENANT": "", "DJANGO_SETTINGS_MODULE": SETTINGS}
            prepared = run_in(name, *prepare, **own, **of_all)
            if prepared is None:
                return Counter(skipped=1)
            prepared.check_returncode()
            for tenant in tenants:
                paths = OF_ROWS if counts else (TESTS,)
                counts += _tested(name, *paths, **own, TENANT=tenant)
    except pytest.skip.Exception as error:
        print(f"{name}: SKIPPED, {error}", flush=True)
        return Counter(skipped=1)
    return counts


def _tested(name: str, *paths: str, **variables: str) -> Counter[str]:
    command = ["-m", "pytest", "-q", "-n", "0", *paths]
    options = [
        f"--ds={SETTINGS}",
        "-p",
        "no:cacheprovider",
        "-W",
        "default",
    ]
    done = run_in(name, *command, *options, **variables)
    if done is None:
        return Counter(skipped=1)
    counts = _counted(done.stdout)
    asked = f"asked {counts['asked']} times, {counts['second']} of them again"
    last = done.stdout.strip().splitlines()[-1].strip(" =")
    told = " of ".join(filter(None, [name, variables.get("TENANT")]))
    lines = [f"{told}: {last}; {asked}"]
    if done.returncode:
        lines += [done.stdout[-6000:], done.stderr[-2000:]]
    print("\n".join(lines), flush=True)  # at once: another site prints, too
    if done.returncode:
        counts["failed"] = counts["failed"] or 1
    return counts


def _counted(output: str) -> Counter[str]:
    found = re.findall(r"(\d+) (passed|failed|skipped|error)", output.splitlines()[-1])
    counts: Counter[str] = Counter()
    for number, what in found:
        counts["failed" if what == "error" else what] += int(number)
    if asked := re.search(r"^asked: (\d+) cases, (\d+) a second time", output, re.M):
        counts["asked"], counts["second"] = map(int, asked.groups())
    return counts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
