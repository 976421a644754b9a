from django.contrib import admin
from polymorphic.admin import (
    PolymorphicChildModelAdmin,
    PolymorphicParentModelAdmin,
)

from tests.hosts.packages.sites.polymorphic.models import Art, Project, Science


class ChildAdmin(PolymorphicChildModelAdmin):
    base_model = Project


admin.site.register([Art, Science], ChildAdmin)


@admin.register(Project)
class ProjectAdmin(PolymorphicParentModelAdmin):
    base_model = Project
    child_models = (Art, Science)
