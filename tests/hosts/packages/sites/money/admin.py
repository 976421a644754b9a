from django.contrib import admin

from tests.hosts.packages.sites.money.models import Offer, Ware


class OfferInline(admin.TabularInline):
    model = Offer
    extra = 0


@admin.register(Ware)
class WareAdmin(admin.ModelAdmin):
    inlines = (OfferInline,)
