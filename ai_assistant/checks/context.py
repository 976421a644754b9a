"""The context providers: whether there is a page that they could describe."""

from collections.abc import Iterator
from difflib import get_close_matches

from django.apps import apps
from django.core.checks import CheckMessage, Error

from ai_assistant.checks.views import site_views
from ai_assistant.context.page import ADMIN_ACTIONS, ADMIN_PAGES
from ai_assistant.registry import registry
from ai_assistant.types import ContextProvider

ACTIONS = sorted({*ADMIN_ACTIONS, *ADMIN_PAGES.values()})


def check_context() -> list[CheckMessage]:
    """Return what is wrong with the providers, each with its place in the code."""
    providers = list(registry.contexts().values())
    of_views = [one for one in providers if one.view and one.view not in ACTIONS]
    names = site_views() if of_views else []
    return [
        *(message for one in providers for message in _model(one)),
        *(message for one in of_views if names for message in _view(one, names)),
    ]


def _place(provider: ContextProvider) -> str:
    return f"Context provider {provider.name!r} ({provider.origin})"


def _model(provider: ContextProvider) -> Iterator[CheckMessage]:
    if not provider.model:
        return
    try:
        apps.get_model(provider.model)
    except (LookupError, ValueError):
        known = sorted(model._meta.label_lower for model in apps.get_models())  # noqa: SLF001
        near = get_close_matches(provider.model.lower(), known, n=1)
        yield Error(
            f"{_place(provider)} is for the model {provider.model!r}, which does not "
            "exist.",
            hint=f"Write {near[0]!r}." if near else "Write it as 'app.model'.",
            id="ai_assistant.E120",
        )


def _view(provider: ContextProvider, names: list[str]) -> Iterator[CheckMessage]:
    if provider.view in names:
        return
    near = get_close_matches(provider.view, [*ACTIONS, *names], n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    yield Error(
        f"{_place(provider)} is for the view {provider.view!r}, which does not exist.",
        hint=(
            f"{meant}Use one of {', '.join(ACTIONS)}, or the name of a view with its "
            "namespace."
        ),
        id="ai_assistant.E121",
    )
