"""The tools never allow more than the page of the admin: pages that decide by the object."""

import pytest

from tests.thorough import part
from tests.tools.data.oracle.comparing import compare
from tests.tools.data.oracle.variants import VARIANTS

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.tools.data.oracle.urls"),
]

OWN = [name for name in VARIANTS if name.endswith("-ByObject")]
TRIED = part(OWN, every=32, start=2)


@pytest.mark.parametrize("variant", TRIED)
def test_never_more_than_the_page(variant, capsys, monkeypatch):
    compare(variant, capsys, monkeypatch)
