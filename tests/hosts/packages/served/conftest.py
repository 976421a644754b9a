import os

import pytest

# They say what they have seen, as a test does.
pytest.register_assert_rewrite(
    "tests.hosts.packages.served.on_site",
    f"tests.hosts.packages.sites.{os.environ.get('HOSTS_PACKAGE')}.in_browser",
)
