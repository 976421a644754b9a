from adminsortable2.admin import (
    SortableAdminBase,
    SortableAdminMixin,
    SortableTabularInline,
)
from django.contrib import admin

from tests.hosts.packages.sites.sortable2.models import Part, Recipe, Step


@admin.register(Step)
class StepAdmin(SortableAdminMixin, admin.ModelAdmin):
    pass


class PartInline(SortableTabularInline):
    model = Part
    extra = 0


@admin.register(Recipe)
class RecipeAdmin(SortableAdminBase, admin.ModelAdmin):
    inlines = (PartInline,)
