from django.contrib import admin
from modeltranslation.admin import TranslationAdmin

from tests.hosts.packages.sites.modeltranslation.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(TranslationAdmin):
    inlines = (ChoiceInline,)
