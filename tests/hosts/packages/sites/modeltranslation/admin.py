from django.contrib import admin
from modeltranslation.admin import TranslationAdmin

from tests.hosts.packages.sites.modeltranslation.models import Choice, Leaflet, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Leaflet)
class LeafletAdmin(admin.ModelAdmin):
    """Its page has the title in the language that is spoken there."""

    fields = ("title",)


@admin.register(Poll)
class PollAdmin(TranslationAdmin):
    inlines = (ChoiceInline,)
