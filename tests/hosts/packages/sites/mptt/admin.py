from django.contrib import admin
from mptt.admin import MPTTModelAdmin

from tests.hosts.packages.sites.mptt.models import Genre, Song


class SongInline(admin.TabularInline):
    model = Song
    extra = 0


@admin.register(Genre)
class GenreAdmin(MPTTModelAdmin):
    inlines = (SongInline,)
