from django.contrib import admin

from tests.hosts.packages.sites.money.models import Ware

admin.site.register(Ware)
