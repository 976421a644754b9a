"""The database of a site: made for the tests, or there before them."""

import os

import pytest

if os.environ.get("HOSTS_DATABASE"):

    @pytest.fixture(scope="session")
    def django_db_setup() -> None:
        """Leave it as the module `prepare` of the site has made it."""
