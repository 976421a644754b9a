from django.db.models import Model
from django.http import HttpRequest

from ai_assistant import conf
from ai_assistant.admin.base import Base


class ManagedAdmin(Base):
    """Rows that people keep, by the admin's own permissions, while the assistant is on."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_add_permission(request)

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_change_permission(request, obj)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_delete_permission(request, obj)

    def has_view_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow who has the permission, while the assistant is on."""
        return conf.enabled() and super().has_view_permission(request, obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide the app while the assistant is off."""
        return conf.enabled() and super().has_module_permission(request)
