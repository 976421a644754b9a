"""The app of the site, whichever it is."""

from django.apps import AppConfig

from tests.hosts.packages.settings import OWN_APP


class HostConfig(AppConfig):
    name = OWN_APP
    label = "host"
