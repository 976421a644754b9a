from django.contrib import admin
from guardian.admin import GuardedModelAdmin
from guardian.shortcuts import get_objects_for_user

from tests.hosts.packages.sites.guardian.models import Choice, Poll


class ChoiceInline(admin.TabularInline):
    model = Choice
    extra = 0


@admin.register(Poll)
class PollAdmin(GuardedModelAdmin):
    """Goes by the permissions of single objects, as the docs of the package do it."""

    inlines = (ChoiceInline,)

    def get_queryset(self, request):
        rows = super().get_queryset(request)
        return get_objects_for_user(request.user, "host.view_poll", rows)

    def has_view_permission(self, request, obj=None):
        return self.has_one(request.user, "host.view_poll", obj)

    def has_change_permission(self, request, obj=None):
        return self.has_one(request.user, "host.change_poll", obj)

    def has_delete_permission(self, request, obj=None):
        return self.has_one(request.user, "host.delete_poll", obj)

    def has_one(self, user, permission, obj):
        if obj is not None:
            return user.has_perm(permission, obj)
        return get_objects_for_user(user, permission).exists()
