"""The admin of the library."""

from django.contrib import admin

from tests.library.models import (
    Author,
    Book,
    Card,
    Copy,
    Diary,
    Publisher,
    Review,
    Tag,
    Vault,
)


class Decade(admin.SimpleListFilter):
    title = "decade"
    parameter_name = "decade"

    def lookups(self, request, model_admin):
        return [("1990", "the nineties"), ("2000", "the noughties")]

    def queryset(self, request, queryset):
        if not self.value():
            return queryset
        first = int(self.value())
        return queryset.filter(published__year__range=(first, first + 9))


class CopyInline(admin.TabularInline):
    model = Copy
    extra = 0


class VaultInline(admin.TabularInline):
    model = Vault
    extra = 0


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    list_display = ("title", "author", "publisher", "status", "shout", "session_token")
    list_filter = ("status", "author__name", Decade)
    search_fields = (
        *("title", "author__name", "session_token", "author__api_key"),
        *("vault__contents", "copies__pin", "=author__session__session_key"),
    )
    exclude = ("margin",)
    readonly_fields = ("number",)
    autocomplete_fields = ("author",)
    raw_id_fields = ("publisher",)
    inlines = (CopyInline, VaultInline)

    @admin.display(description="Shout")
    def shout(self, book):
        return book.title.upper()

    @admin.action(description="Mark as lost")
    def lose(self, request, queryset):
        queryset.update(status=Book.Status.LOST)

    actions = ("lose",)


@admin.register(Author)
class AuthorAdmin(admin.ModelAdmin):
    search_fields = ("name",)


@admin.register(Publisher)
class PublisherAdmin(admin.ModelAdmin):
    list_display = ("name", "city")
    search_fields = ("name",)

    def get_queryset(self, request):
        return super().get_queryset(request).exclude(name__startswith="_")


@admin.register(Tag)
class TagAdmin(admin.ModelAdmin):
    pass


@admin.register(Review)
class ReviewAdmin(admin.ModelAdmin):
    list_display = ("book", "stars")

    def has_view_permission(self, request, obj=None):
        return super().has_view_permission(request, obj) and self._may(request, obj)

    def has_change_permission(self, request, obj=None):
        return super().has_change_permission(request, obj) and self._may(request, obj)

    def _may(self, request, obj):
        return obj is None or not obj.is_private or obj.writer_id == request.user.pk

    def get_fields(self, request, obj=None):
        fields = ["book", "writer", "stars", "is_private"]
        own = obj is not None and obj.writer_id == request.user.pk
        return [*fields, "remarks"] if own else fields


@admin.register(Vault)
class VaultAdmin(admin.ModelAdmin):
    assistant = False


@admin.register(Diary)
class DiaryAdmin(admin.ModelAdmin):
    pass


@admin.register(Card)
class CardAdmin(admin.ModelAdmin):
    pass
