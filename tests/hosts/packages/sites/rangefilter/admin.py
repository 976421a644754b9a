from django.contrib import admin
from rangefilter.filters import DateRangeFilter

from tests.hosts.packages.sites.rangefilter.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(admin.ModelAdmin):
    inlines = (ChoiceInline,)
    list_filter = (("made", DateRangeFilter),)
