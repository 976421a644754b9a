from adminsortable2.admin import SortableAdminMixin
from django.contrib import admin

from tests.hosts.packages.sites.sortable2.models import Step


@admin.register(Step)
class StepAdmin(SortableAdminMixin, admin.ModelAdmin):
    pass
