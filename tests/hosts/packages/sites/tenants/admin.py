from django.contrib import admin

from tests.hosts.packages.sites.tenants.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(admin.ModelAdmin):
    inlines = (ChoiceInline,)

    def save_model(self, request, obj, form, change):
        # Of the request, as the middleware of django-tenants sets it.
        obj.saved_for = request.tenant.name
        super().save_model(request, obj, form, change)
