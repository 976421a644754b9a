from django.contrib import admin

from tests.hosts.packages.sites.ninja.models import Author, Book, Tag

admin.site.register([Author, Book, Tag])
