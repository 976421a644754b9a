"""
The database backend of django-tenants, for a process that belongs to one tenant.

A run goes on in threads and processes that know nothing of the request which began it,
and much is kept in a process: rows of configuration, leases, sockets. So no connection of
the process ever leaves the schema of its tenant.
"""

from typing import Any

from django.core.exceptions import ImproperlyConfigured, SuspiciousOperation
from django.db import DEFAULT_DB_ALIAS
from django_tenants.postgresql_backend import base
from django_tenants.utils import get_public_schema_name


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection in the schema that DATABASES names as the TENANT."""

    def __init__(
        self, settings_dict: dict[str, Any], alias: str = DEFAULT_DB_ALIAS
    ) -> None:
        self.own_schema = str(settings_dict.get("TENANT") or "")
        if self.own_schema in ("", get_public_schema_name()):
            raise ImproperlyConfigured(
                f"DATABASES[{alias!r}] names no tenant for the engine "
                "'ai_assistant.tenant_backend'. Give the schema of one as 'TENANT'."
            )
        super().__init__(settings_dict, alias)

    def set_tenant(self, tenant: Any, *args: Any, **kwargs: Any) -> None:
        """Stay in the schema. Raise SuspiciousOperation if another one is asked for."""
        if tenant.schema_name != self.own_schema:
            raise SuspiciousOperation(
                f"This process belongs to the tenant {self.own_schema!r}; it does "
                f"nothing for {tenant.schema_name!r}."
            )
        super().set_tenant(tenant, *args, **kwargs)

    def set_schema_to_public(self) -> None:
        """Stay in the schema, behind which the tables of the public one are found."""
        self.set_schema(self.own_schema)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection. Raise ImproperlyConfigured if tenants share our tables."""
        opened = super().get_new_connection(conn_params)
        with opened.cursor() as cursor:
            cursor.execute(
                "SELECT to_regclass(quote_ident(%s) || '.ai_assistant_run')",
                [get_public_schema_name()],
            )
            (found,) = cursor.fetchone()
        opened.rollback()
        if found is None:
            return opened
        opened.close()
        raise ImproperlyConfigured(
            "The tables of the assistant are in the public schema, which all tenants "
            "see. Put 'ai_assistant' in TENANT_APPS, not in SHARED_APPS, and drop them."
        )
