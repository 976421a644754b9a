from django.contrib import admin
from parler.admin import TranslatableAdmin

from tests.hosts.packages.sites.parler.models import News


@admin.register(News)
class NewsAdmin(TranslatableAdmin):
    pass
