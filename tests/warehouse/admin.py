"""The admin of the warehouse, with rules of its own."""

from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse

from tests.warehouse.models import (
    Mark,
    Movement,
    Offer,
    Part,
    Product,
    Remark,
    Supplier,
)


class PartInline(admin.TabularInline):
    model = Part
    extra = 2


class RemarkInline(admin.TabularInline):
    model = Remark
    extra = 0
    max_num = 2


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):
    exclude = ("margin",)
    readonly_fields = ("number",)
    autocomplete_fields = ("supplier",)
    raw_id_fields = ("backup",)
    filter_horizontal = ("marks",)
    list_display = ("name", "status")
    inlines = (PartInline, RemarkInline)
    actions = ("discount", "ask_again", "refuse")

    def get_queryset(self, request):
        return super().get_queryset(request).exclude(name="hidden")

    def has_change_permission(self, request, obj=None):
        may = super().has_change_permission(request, obj)
        return may and (obj is None or not obj.name.startswith("locked"))

    def has_delete_permission(self, request, obj=None):
        may = super().has_delete_permission(request, obj)
        return may and (obj is None or not obj.name.startswith("locked"))

    def get_readonly_fields(self, request, obj=None):
        own = super().get_readonly_fields(request, obj)
        sold = obj is not None and obj.status == Product.Status.SOLD
        return (*own, "price") if sold else own

    def save_model(self, request, obj, form, change):
        if obj.name == "forbidden":
            raise PermissionDenied
        if obj.name == "impossible":
            raise ValidationError("That cannot be.")
        super().save_model(request, obj, form, change)

    @admin.action(description="Give a discount on %(verbose_name_plural)s")
    def discount(self, request, queryset):
        for product in queryset:
            product.price -= 1
            product.save()
        self.message_user(request, f"{queryset.count()} cheaper.")

    @admin.action(description="Ask again")
    def ask_again(self, request, queryset):
        return HttpResponse("Really?")

    @admin.action(description="Refuse", permissions=["delete"])
    def refuse(self, request, queryset):
        self.message_user(request, "No.", level="error")


@admin.register(Supplier)
class SupplierAdmin(admin.ModelAdmin):
    search_fields = ("name",)


admin.site.register([Mark, Movement, Offer, Remark])
