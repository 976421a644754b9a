from django.contrib import admin
from mptt.admin import MPTTModelAdmin

from tests.hosts.packages.sites.mptt.models import Genre

admin.site.register(Genre, MPTTModelAdmin)
