"""
Generated models and their admins: each rule with each shape of the page.

Every variant is a proxy of one table, with permissions of its own, on an AdminSite
that only the oracle mounts.
"""

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied

from tests.warehouse.models import Mark, Piece, Supplier, Thing

site = admin.AdminSite(name="oracle")


# --- rules: who may do what ---


class Plain:
    pass


class OwnQueryset:
    def get_queryset(self, request):
        return super().get_queryset(request).filter(owner=request.user.username)


class OpenOnly:
    def has_change_permission(self, request, obj=None):
        may = super().has_change_permission(request, obj)
        return may and (obj is None or obj.is_open)


class OwnerOnly:
    def _owns(self, request, obj):
        return obj is None or obj.owner == request.user.username

    def has_view_permission(self, request, obj=None):
        may = super().has_view_permission(request, obj)
        return may and self._owns(request, obj)

    def has_change_permission(self, request, obj=None):
        may = super().has_change_permission(request, obj)
        return may and self._owns(request, obj)

    def has_delete_permission(self, request, obj=None):
        may = super().has_delete_permission(request, obj)
        return may and self._owns(request, obj)


class NeitherAddNorDelete:
    def has_add_permission(self, request):
        return False

    def has_delete_permission(self, request, obj=None):
        return False


class DeleteClosedOnly:
    def has_delete_permission(self, request, obj=None):
        may = super().has_delete_permission(request, obj)
        return may and obj is not None and not obj.is_open


class ReadByMethod:
    """A well-known recipe: who does not own it only looks."""

    def has_change_permission(self, request, obj=None):
        looks = request.method in ("GET", "HEAD")
        may = super().has_change_permission(request, obj)
        return may and (looks or request.user.is_superuser)


class OwnViews:
    def add_view(self, request, *args, **kwargs):
        self._check(request)
        return super().add_view(request, *args, **kwargs)

    def change_view(self, request, *args, **kwargs):
        self._check(request)
        return super().change_view(request, *args, **kwargs)

    def delete_view(self, request, *args, **kwargs):
        self._check(request)
        return super().delete_view(request, *args, **kwargs)

    def changelist_view(self, request, *args, **kwargs):
        self._check(request)
        return super().changelist_view(request, *args, **kwargs)

    def _check(self, request):
        if not request.user.is_superuser:
            raise PermissionDenied


class OwnPost:
    def changeform_view(self, request, *args, **kwargs):
        if request.method == "POST" and not request.user.is_superuser:
            raise PermissionDenied
        return super().changeform_view(request, *args, **kwargs)


class OwnDeletion:
    def get_deleted_objects(self, objs, request):
        found = super().get_deleted_objects(objs, request)
        if any(one.is_open for one in objs):
            return *found[:2], {"open things"}, found[3]
        return found


class OwnObject:
    """The page finds fewer objects than there are rows in the list."""

    def get_object(self, request, object_id, from_field=None):
        found = super().get_object(request, object_id, from_field)
        if found is None or request.user.is_superuser:
            return found
        return found if found.owner == request.user.username else None


class OwnList(ChangeList):
    def get_queryset(self, request, *args, **kwargs):
        rows = super().get_queryset(request, *args, **kwargs)
        return rows.filter(owner=request.user.username)


class LimitedList:
    """The list shows fewer rows than have a page."""

    def get_changelist(self, request, **kwargs):
        return OwnList


class ClosedList:
    def changelist_view(self, request, *args, **kwargs):
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().changelist_view(request, *args, **kwargs)


class OwnHistory:
    def history_view(self, request, object_id, *args, **kwargs):
        if not request.user.is_superuser:
            raise PermissionDenied
        return super().history_view(request, object_id, *args, **kwargs)


class HiddenPieces:
    """A hook hides the inlines of some pages, which have them otherwise."""

    def get_formsets_with_inlines(self, request, obj=None):
        for formset, inline in super().get_formsets_with_inlines(request, obj):
            if request.user.is_superuser or obj is None or obj.is_open:
                yield formset, inline


class LimitedNames:
    """The form offers, and so names, fewer objects than there are."""

    def formfield_for_foreignkey(self, db_field, request, **kwargs):
        if db_field.name == "place" and not request.user.is_superuser:
            kwargs["queryset"] = Supplier.objects.filter(is_active=True)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def formfield_for_manytomany(self, db_field, request, **kwargs):
        if not request.user.is_superuser:
            kwargs["queryset"] = Mark.objects.exclude(name__startswith="hid")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def formfield_for_choice_field(self, db_field, request, **kwargs):
        if not request.user.is_superuser:
            kwargs["choices"] = [("a", "A")]
        return super().formfield_for_choice_field(db_field, request, **kwargs)


class OwnRows:
    """What a limit by owner leaves; a superuser is not limited."""

    @staticmethod
    def own(request, rows):
        user = request.user
        return rows if user.is_superuser else rows.filter(owner=user.username)


class LimitedResults(OwnRows):
    """The rows are taken away where the page is cut out of them."""

    def get_changelist(self, request, **kwargs):
        limit = self.own

        class Limited(ChangeList):
            def get_results(self, request):
                super().get_results(request)
                self.result_list = list(limit(request, self.queryset))

        return Limited

    def get_actions(self, request, action_location=None):
        return {}


class LimitedInstance(OwnRows):
    def get_changelist_instance(self, request):
        made = super().get_changelist_instance(request)
        made.queryset = self.own(request, made.queryset)
        made.get_results(request)
        return made

    def get_actions(self, request, action_location=None):
        return {}


class LimitedSearch(OwnRows):
    def get_search_results(self, request, queryset, search_term):
        found, doubles = super().get_search_results(request, queryset, search_term)
        return self.own(request, found), doubles


class LimitedByView(OwnRows):
    """The view of the list says to the queryset what it is asked for."""

    def changelist_view(self, request, extra_context=None):
        request.is_list = True
        return super().changelist_view(request, extra_context)

    def get_queryset(self, request):
        rows = super().get_queryset(request)
        return self.own(request, rows) if hasattr(request, "is_list") else rows


class LimitedByPath(OwnRows):
    """All are in the list; the pages of others' are not found."""

    def get_queryset(self, request):
        rows = super().get_queryset(request)
        is_list = request.resolver_match.url_name.endswith("_changelist")
        return rows if is_list else self.own(request, rows)


class OwnChangeView:
    def change_view(self, request, object_id, *args, **kwargs):
        found = Thing.objects.filter(pk=object_id).first()
        closes = found and not request.user.is_superuser
        if closes and found.owner != request.user.username:
            raise PermissionDenied
        return super().change_view(request, object_id, *args, **kwargs)


class ClosedAction:
    def changelist_view(self, request, *args, **kwargs):
        if request.method == "POST" and not request.user.is_superuser:
            raise PermissionDenied
        return super().changelist_view(request, *args, **kwargs)


class OwnResponse:
    def response_action(self, request, queryset):
        if request.user.is_superuser:
            return super().response_action(request, queryset)
        return None


# --- shapes: what the page has ---


class PieceInline(admin.TabularInline):
    model = Piece
    extra = 0


class OneOnly(PieceInline):
    can_delete = False
    max_num = 1
    readonly_fields = ("size",)


class NoNewOnes(PieceInline):
    extra = 3

    def has_add_permission(self, request, obj=None):
        return False


class Whole:
    inlines = (PieceInline,)


class Less:
    inlines = (OneOnly,)
    exclude = ("amount",)
    readonly_fields = ("kind",)


class ByObject:
    fieldsets = (
        (None, {"fields": ["name", ("kind", "amount")]}),
        ("More", {"fields": ["note", "is_open", "owner"]}),
    )

    def get_readonly_fields(self, request, obj=None):
        if request.user.is_superuser:
            return ()
        return ("note",) if obj is None or obj.is_open else ("name", "note")


class ThingForm(forms.ModelForm):
    class Meta:
        model = Thing
        exclude = ("note",)  # noqa: DJ006 - as sites do

    def clean_amount(self):
        if self.cleaned_data["amount"] > 1000:
            raise forms.ValidationError("Too much.")
        return self.cleaned_data["amount"]


class OwnForm:
    form = ThingForm
    inlines = (NoNewOnes,)

    def get_form(self, request, obj=None, **kwargs):
        made = super().get_form(request, obj, **kwargs)
        if not request.user.is_superuser:
            made.base_fields.pop("owner", None)
        return made

    def formfield_for_foreignkey(self, db_field, request, **kwargs):
        if db_field.name == "place":
            kwargs["queryset"] = Supplier.objects.filter(is_active=True)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class Acting:
    """An action, and a save of its own."""

    actions = ("stamp",)

    @admin.action(permissions=["change"])
    def stamp(self, request, queryset):
        queryset.update(owner="stamped")


RULES = (
    Plain,
    OwnQueryset,
    OpenOnly,
    OwnerOnly,
    NeitherAddNorDelete,
    DeleteClosedOnly,
    ReadByMethod,
    OwnViews,
    OwnPost,
    OwnDeletion,
    OwnObject,
    LimitedList,
    ClosedList,
    OwnHistory,
    HiddenPieces,
    LimitedNames,
    LimitedResults,
    LimitedInstance,
    LimitedSearch,
    LimitedByView,
    LimitedByPath,
    OwnChangeView,
    ClosedAction,
    OwnResponse,
)
SHAPES = (Whole, Less, ByObject, OwnForm)


def _variant(number, rule, shape):
    options = type("Meta", (), {"proxy": True, "app_label": "warehouse"})
    name = f"Oracle{number:02}"
    model = type(name, (Thing,), {"__module__": __name__, "Meta": options})
    model_admin = type(
        f"{rule.__name__}{shape.__name__}Admin",
        (rule, shape, Acting, admin.ModelAdmin),
        {"__module__": __name__},
    )
    site.register(model, model_admin)
    return model


VARIANTS = {
    f"{rule.__name__}-{shape.__name__}": _variant(
        number * len(SHAPES) + own, rule, shape
    )
    for number, rule in enumerate(RULES)
    for own, shape in enumerate(SHAPES)
}
site.register(Piece)
