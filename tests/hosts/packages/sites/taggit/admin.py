from django.contrib import admin

from tests.hosts.packages.sites.taggit.models import Article

admin.site.register(Article)
