from django.apps import AppConfig


class CustomersConfig(AppConfig):
    name = "tests.hosts.packages.sites.tenants.customers"
    label = "customers"
