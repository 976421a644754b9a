from django.contrib import admin
from polymorphic.admin import (
    PolymorphicChildModelAdmin,
    PolymorphicParentModelAdmin,
)

from tests.hosts.packages.sites.polymorphic.models import Art, Project, Science, Step


class StepInline(admin.TabularInline):
    model = Step
    extra = 0


class ChildAdmin(PolymorphicChildModelAdmin):
    base_model = Project
    inlines = (StepInline,)


admin.site.register([Art, Science], ChildAdmin)


@admin.register(Project)
class ProjectAdmin(PolymorphicParentModelAdmin):
    base_model = Project
    child_models = (Art, Science)
