from django.contrib import admin
from import_export.admin import ImportExportModelAdmin

from tests.hosts.packages.sites.import_export.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(ImportExportModelAdmin):
    inlines = (ChoiceInline,)
