from django.db import models
from django_tenants.models import DomainMixin, TenantMixin


class Tenant(TenantMixin):
    auto_create_schema = False  # `prepare` makes it
    name = models.CharField(max_length=50)


class Domain(DomainMixin):
    pass
