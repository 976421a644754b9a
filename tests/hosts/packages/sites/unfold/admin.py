from django.contrib import admin
from unfold.admin import ModelAdmin, TabularInline

from tests.hosts.packages.sites.unfold.models import Choice, Poll


class ChoiceInline(TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(ModelAdmin):
    inlines = (ChoiceInline,)
