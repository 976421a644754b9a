from django.contrib import admin
from simple_history.admin import SimpleHistoryAdmin

from tests.hosts.packages.sites.simple_history.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(SimpleHistoryAdmin):
    inlines = (ChoiceInline,)
