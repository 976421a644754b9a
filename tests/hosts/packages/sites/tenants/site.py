"""
django-tenants: a process for each tenant, as docs/packages.md says.

Its block is executed here. What it begins with are settings of a site as the docs of
django-tenants make them.
"""

import os

from tests.docs.blocks import blocks, page, section

REQUIRES = "django-tenants==4.0.1"
TENANTS = "acme beta"  # its tests are run in a process of each
HOSTS = {"acme": "127.0.0.1", "beta": "localhost"}
HERE = "tests.hosts.packages.sites.tenants"

APPS_BEFORE = ["django_tenants", f"{HERE}.customers"]
APPS = []
MIDDLEWARE_BEFORE = ["django_tenants.middleware.main.TenantMainMiddleware"]

recipe = [
    block.code
    for block in blocks(section(page("docs/packages.md"), "Tenants"))
    if block.language == "python"
]
_settings = {
    "SHARED_APPS": [
        "django_tenants",
        f"{HERE}.customers",
        "django.contrib.contenttypes",
    ],
    "TENANT_APPS": [
        "django.contrib.admin",
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "tests.hosts.packages.apps.HostConfig",
    ],
    "DATABASES": {
        "default": {
            "ENGINE": "django_tenants.postgresql_backend",
            "NAME": os.environ["HOSTS_DATABASE"].rpartition("/")[2],
            "HOST": "127.0.0.1",
            "PORT": os.environ["HOSTS_DATABASE"].rpartition(":")[2].partition("/")[0],
            "USER": "postgres",
        }
    },
    "AI_ASSISTANT": {
        "PROFILES": {
            "default": {
                "MODEL": "openai/scripted",
                "API_BASE": os.environ.get("HOSTS_MODEL", ""),
                "API_KEY": "none",
            }
        },
        "DATA": {"REQUEST_CONTEXT": f"{HERE}.around.with_tenant"},
        "LEASE_S": 2.0,
        "TITLES": False,
        "FOLLOWUPS": False,
    },
}
exec(recipe[0], _settings)  # noqa: S102 - it is of the docs
SETTINGS = {
    **{name: value for name, value in _settings.items() if name.isupper()},
    "DATABASE_ROUTERS": ["django_tenants.routers.TenantSyncRouter"],
    "TENANT_MODEL": "customers.Tenant",
    "TENANT_DOMAIN_MODEL": "customers.Domain",
    "ASGI_APPLICATION": f"{HERE}.asgi.application",
    "LOGIN_URL": "admin:login",
}
