import nested_admin
from django.contrib import admin

from tests.hosts.packages.sites.nested_admin.models import Book, Entry, Note, Section


class NoteInline(nested_admin.NestedTabularInline):
    model = Note
    extra = 0


class EntryInline(nested_admin.NestedTabularInline):
    model = Entry
    extra = 0
    inlines = (NoteInline,)


class SectionInline(nested_admin.NestedStackedInline):
    model = Section
    extra = 0
    sortable_field_name = "position"
    inlines = (EntryInline,)


@admin.register(Book)
class BookAdmin(nested_admin.NestedModelAdmin):
    inlines = (SectionInline,)
