"""The tests of one site alone stand in its folder, and need its packages."""

import importlib
import os
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

NAME = os.environ.get("HOSTS_PACKAGE", "")
collect_ignore = [
    path.name
    for path in Path(__file__).parent.iterdir()
    if path.is_dir() and path.name != NAME
]


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="hunter2hunter2")


@pytest.fixture
def client(boss):
    """Return the browser of the superuser, on a site with its rows."""
    importlib.import_module(f"tests.hosts.packages.sites.{NAME}.cases").make()
    client = Client()
    client.force_login(boss)
    return client
