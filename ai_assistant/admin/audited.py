"""Settings that are rows: who changes one in the admin stands in the audit log."""

from typing import Any

from django.db.models import Model
from django.forms import model_to_dict
from django.http import HttpRequest

from ai_assistant.admin.base import Base
from ai_assistant.safety.audit import record, request_ip


class Audited(Base):
    """Records what is added, changed and deleted, beside Django's own log."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401
        """Record a new object, with all of its values."""
        _record("settings.added", request, obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401
        """Record what the object is from now on, and which fields were changed."""
        _record("settings.changed", request, obj, message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:  # noqa: ANN401
        """Record what is about to be deleted."""
        for obj in queryset:
            _record("settings.deleted", request, obj)
        return super().log_deletions(request, queryset)


def _record(action: str, request: HttpRequest, obj: Model, message: Any = None) -> None:  # noqa: ANN401
    meta = obj._meta  # noqa: SLF001 - Django's public Meta API
    values = {name: _plain(value) for name, value in model_to_dict(obj).items()}
    record(
        action,
        user=request.user,
        details={
            "object": f"{meta.label_lower}:{obj.pk}",
            "values": values,
            **({"message": message} if message else {}),
        },
        ip=request_ip(request.META.get("REMOTE_ADDR") or ""),
    )


def _plain(value: Any) -> Any:  # noqa: ANN401
    return value if isinstance(value, str | int | bool | None) else str(value)
