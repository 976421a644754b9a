from django.contrib import admin

from tests.hosts.packages.sites.taggit.models import Article, Chapter


class ChapterInline(admin.TabularInline):
    model = Chapter
    extra = 0


@admin.register(Article)
class ArticleAdmin(admin.ModelAdmin):
    inlines = (ChapterInline,)
