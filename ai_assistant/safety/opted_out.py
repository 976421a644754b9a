"""Models that the site keeps from the assistant."""

from typing import Any

from django.db.models import Model

from ai_assistant import conf


def is_opted_out(model: type[Model], model_admin: Any = None) -> bool:  # noqa: ANN401
    """Tell whether the site keeps the model, or this admin of it, from the assistant."""
    excluded = {str(label).lower() for label in conf.get("DATA_MODELS_EXCLUDED")}
    return (
        model._meta.label_lower in excluded  # noqa: SLF001
        or getattr(model, "assistant", True) is False
        or getattr(model_admin, "assistant", True) is False
    )
