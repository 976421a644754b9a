"""
Make the schemas of both tenants, with a person and a poll in each.

By a process of no tenant, which sees all of them: the assistant is switched off there.
"""

import django
from django.db import connection


def main() -> None:
    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django_tenants.utils import tenant_context

    from tests.hosts.packages.sites.tenants.customers.models import Domain, Tenant
    from tests.hosts.packages.sites.tenants.models import Poll
    from tests.hosts.packages.sites.tenants.site import HOSTS

    options = {"interactive": False, "verbosity": 0, "run_syncdb": True}
    call_command("migrate_schemas", shared=True, **options)
    for name, host in HOSTS.items():
        tenant = Tenant.objects.create(schema_name=name, name=f"{name.title()} Ltd")
        Domain.objects.create(domain=host, tenant=tenant, is_primary=True)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA {name}")
    call_command("migrate_schemas", tenant=True, **options)
    for tenant in Tenant.objects.all():
        with tenant_context(tenant):
            user_model = get_user_model()
            user_model.objects.create_superuser("admin", password="admin")
            Poll.objects.create(pk=9, title="Old", saved_for=tenant.name)


if __name__ == "__main__":
    main()
