"""
A person opens the panel on pages of the site, asks, reads the answer and approves.

What a package brings to these pages lies below the panel, and goes on. The cases of a
site name more such pages as PAGES, by selectors what the launcher and the docked panel
leave free as FREE, and `in_browser.py` beside them what is to be seen of it alone.
"""

import importlib
import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from tests.browser.chromium import chromium
from tests.hosts.packages.cases import Case
from tests.hosts.packages.person import Person
from tests.hosts.packages.served.on_site import SCREENS, SEES, OnSite
from tests.hosts.packages.served.site import Served, serve
from tests.hosts.packages.settings import OWN_APP
from tests.hosts.packages.test_same_rows import NAME, cases
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text

OTHERS = ("django.", "ai_assistant", "channels", "tests.")


def brings() -> list[str]:
    """Return the apps that bring scripts, styles or templates."""
    return [
        config.name
        for config in apps.get_app_configs()
        if not config.name.startswith(OTHERS)
        and any((Path(config.path) / one).is_dir() for one in ("static", "templates"))
    ]


pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not brings(), reason=f"nothing of {NAME} is on the pages"),
    pytest.mark.skipif(
        bool(getattr(cases, "NOT_SERVED", "")), reason=getattr(cases, "NOT_SERVED", "")
    ),
]


@pytest.fixture
def site(
    tmp_path: Path, django_db_setup, django_db_blocker, model_server: ModelServerProcess
) -> Iterator[Served]:
    """The site in a server of its own, with the tables of the tests."""
    database = tmp_path / "site.sqlite3"
    with django_db_blocker.unblock(), closing(sqlite3.connect(database)) as copy:
        connection.ensure_connection()
        connection.connection.backup(copy)
    with serve(database, model_server.base) as served:
        yield served


def shown_case() -> Case:
    """Return the first change of an object that is asked about once."""
    return next(
        case
        for case in cases.CASES.values()
        if case.tool == "change_object"
        and not (case.query or case.refused or case.asked_twice)
    )


def test_panel_is_usable_on_the_pages(
    site: Served, model_server: ModelServerProcess, subtests: pytest.Subtests
) -> None:
    case = shown_case()
    own = Person(None, case).address
    pages = [own, *getattr(cases, "PAGES", ()), *getattr(cases, "OTHER_PAGES", ())]
    change = call("change_object", {"model": case.model, **case.arguments})
    sees = [text(SEES), {"op": "hold", "name": "rest"}, text(" what can be changed.")]
    model_server.script("default", [[*sees, change], [text("It is changed.")]])
    typed = {one for one in case.typed.values() if isinstance(one, str)}

    with chromium() as browser:
        for screen in SCREENS:
            here = OnSite(browser, site, screen, getattr(cases, "FREE", ()))
            for address in pages:
                with subtests.test(screen, page=address):
                    here.opens_by_the_launcher(address)
            if screen == "wide":
                with subtests.test("asks, reads and approves"):
                    here.asks_reads_and_approves(own, model_server, typed)
                with subtests.test("what is to be seen of this package"):
                    look_alone(here)
            with subtests.test("nothing fails, and the policy is kept", on=screen):
                assert site.faults() == []
                assert here.troubles() == []
                here.violates()
                assert here.troubles() != []
            here.visitor.leave()


def look_alone(here: OnSite) -> None:
    """Look at what only this package has, if it says that."""
    name = f"{OWN_APP}.in_browser"
    if importlib.util.find_spec(name):
        importlib.import_module(name).look(here)
