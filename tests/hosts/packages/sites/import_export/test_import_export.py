"""The pages that import and export rows are known as those of their model."""

import pytest
from django.test import Client

from tests.hosts.packages.context import known_on
from tests.hosts.packages.sites.import_export import cases
from tests.hosts.packages.test_same_rows import boss

__all__ = ["boss"]  # a fixture


@pytest.mark.parametrize("page", ["import", "export"])
def test_page_is_of_its_model(boss, page):
    cases.make()
    client = Client()
    client.force_login(boss)

    known = known_on(f"/admin/host/poll/{page}/", client, boss)

    assert known == ("host.poll", None, "default")
