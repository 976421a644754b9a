"""The tools never allow more than the page of the admin: pages that show all fields."""

import pytest

from tests.thorough import part
from tests.tools.data.oracle.comparing import ROLES, compare
from tests.tools.data.oracle.variants import VARIANTS

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.tools.data.oracle.urls"),
]

OWN = [name for name in VARIANTS if name.endswith("-Whole")]
TRIED = part(OWN, every=32, start=0)


@pytest.mark.parametrize("variant", TRIED)
def test_never_more_than_the_page(variant, capsys, monkeypatch):
    compare(variant, capsys, monkeypatch)


def test_has_enough_of_them():
    assert len(VARIANTS) >= 30
    assert len(ROLES) >= 8
