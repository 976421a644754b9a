"""The pages that import and export rows are known as those of their model."""

import pytest

from tests.hosts.packages.context import known_on


@pytest.mark.parametrize("page", ["import", "export"])
def test_page_is_of_its_model(client, boss, page):
    known = known_on(f"/admin/host/poll/{page}/", client, boss)

    assert known == ("host.poll", None, "default")
