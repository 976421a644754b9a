from django.contrib import admin
from import_export.admin import ImportExportActionModelAdmin

from tests.hosts.packages.sites.import_export.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(ImportExportActionModelAdmin):
    inlines = (ChoiceInline,)
