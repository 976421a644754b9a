import pytest

from tests.docs.blocks import page, section
from tests.docs.site import Site


@pytest.fixture(scope="session")
def readme_site(tmp_path_factory):
    """A site made by the steps of the README, without the sample after them."""
    site = Site.new(tmp_path_factory.mktemp("readme"))
    steps = section(page("README.md"), "Add it to your site")
    site.follow(steps.partition("Superusers see")[0])
    return site


@pytest.fixture(scope="session")
def shop_site(readme_site, tmp_path_factory):
    """The same with the shop of the tutorial, which has no tools yet."""
    site = readme_site.copy(tmp_path_factory.mktemp("shop"))
    site.follow(section(page("docs/tutorial.md"), "A shop"))
    return site
