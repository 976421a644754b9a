from django.contrib import admin
from parler.admin import TranslatableAdmin, TranslatableTabularInline

from tests.hosts.packages.sites.parler.models import Album, News, Photo


class PhotoInline(TranslatableTabularInline):
    model = Photo
    extra = 0


@admin.register(News)
class NewsAdmin(TranslatableAdmin):
    pass


@admin.register(Album)
class AlbumAdmin(admin.ModelAdmin):
    inlines = (PhotoInline,)
