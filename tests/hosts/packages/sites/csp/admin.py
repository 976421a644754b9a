from django.contrib import admin

from tests.hosts.packages.sites.csp.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(admin.ModelAdmin):
    inlines = (ChoiceInline,)
