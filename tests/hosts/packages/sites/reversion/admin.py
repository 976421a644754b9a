from django.contrib import admin
from reversion.admin import VersionAdmin

from tests.hosts.packages.sites.reversion.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(VersionAdmin):
    inlines = (ChoiceInline,)
