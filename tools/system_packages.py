"""
Install the programs of the tests: a browser, Redis, PostgreSQL, gettext and Node.js.

As root on Debian they come from apt. Elsewhere the browser comes from Playwright,
and this script says what else to install: tests that need it are skipped, loudly.
`tools/system_packages.py --browser` looks for the browser only.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DEBIANS_BROWSER = Path("/usr/lib/chromium")
SHELL = "chromium-headless-shell"  # most tests are quicker in it, and none needs it


def has_browser() -> bool:
    """Tell whether a Chromium is there, of the system or of Playwright."""
    cache = Path(
        os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "~/.cache/ms-playwright")
    ).expanduser()
    return any(map(shutil.which, BROWSERS)) or any(cache.glob("chromium-*"))


def has_postgres() -> bool:
    """Tell whether a PostgreSQL server can be started; Debian hides it from PATH."""
    debian = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return shutil.which("initdb") is not None or any(debian)


def missing(*, browser_only: bool) -> list[str]:
    """Return the Debian packages of what is not there."""
    packages = [] if has_browser() else ["chromium", "fonts-liberation"]
    if browser_only:
        return packages
    if shutil.which("redis-server") is None:
        packages.append("redis-server")
    if not has_postgres():
        packages.append("postgresql")
    if shutil.which("xgettext") is None:
        packages.append("gettext")
    if not (shutil.which("node") and shutil.which("npm")):
        packages += ["nodejs", "npm"]
    return packages


def install_with_apt(packages: list[str]) -> None:
    """Install `packages`, with no question asked."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    print(f"Installing {' '.join(packages)}", flush=True)
    get = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
    subprocess.run([*get, "update"], env=environment, check=False)
    subprocess.run(
        [*get, "install", "-y", "--no-install-recommends", *packages],
        env=environment,
        check=False,
        stdout=subprocess.DEVNULL,
    )


def main(*, browser_only: bool) -> None:
    """Install what may be installed, and name what is missing then."""
    wanted = missing(browser_only=browser_only)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        if wanted:
            install_with_apt(wanted)
        if DEBIANS_BROWSER.is_dir() and not browser_only and not shutil.which(SHELL):
            install_with_apt([SHELL])
    if not has_browser():
        subprocess.run(
            [sys.executable, "-m", "playwright", "install", "chromium"], check=False
        )
    if left := missing(browser_only=browser_only):
        print(
            f"Not installed: {', '.join(left)} (Debian's names). Tests that need them "
            "are skipped; install them to run all.",
            flush=True,
        )


if __name__ == "__main__":
    main(browser_only="--browser" in sys.argv[1:])
