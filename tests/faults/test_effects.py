import os

import pytest

from tests.faults.chaos import Chaos
from tests.faults.site import Site

pytestmark = pytest.mark.faults


@pytest.mark.timeout(3600)
def test_effects_happen_once_whatever_dies(
    each_site: Site, strikes: int, record_property
) -> None:
    seed = int(os.environ.get("FAULTS_SEED", "1"))

    outcome = Chaos(each_site, strikes, seed=seed).run()

    record_property("figures", str(outcome))
    print(outcome)
    assert not outcome.duplicates
    assert not outcome.missing
    assert not outcome.problems
