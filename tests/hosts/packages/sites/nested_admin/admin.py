import nested_admin
from django.contrib import admin

from tests.hosts.packages.sites.nested_admin.models import Book, Entry, Section


class EntryInline(nested_admin.NestedTabularInline):
    model = Entry
    extra = 0


class SectionInline(nested_admin.NestedStackedInline):
    model = Section
    extra = 0
    sortable_field_name = "position"
    inlines = (EntryInline,)


@admin.register(Book)
class BookAdmin(nested_admin.NestedModelAdmin):
    inlines = (SectionInline,)
