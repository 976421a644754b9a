from django.contrib import admin
from guardian.admin import GuardedModelAdmin

from tests.hosts.packages.sites.guardian.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(GuardedModelAdmin):
    inlines = (ChoiceInline,)
