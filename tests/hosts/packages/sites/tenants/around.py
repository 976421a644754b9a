"""The context manager of docs/packages.md, executed from there."""

from tests.hosts.packages.sites.tenants.site import recipe

exec(recipe[1])  # noqa: S102 - it is of the docs
