from django.contrib import admin
from treebeard.admin import TreeAdmin
from treebeard.forms import movenodeform_factory

from tests.hosts.packages.sites.treebeard.models import Link, Topic


class LinkInline(admin.TabularInline):
    model = Link
    extra = 0


@admin.register(Topic)
class TopicAdmin(TreeAdmin):
    form = movenodeform_factory(Topic)
    inlines = (LinkInline,)
