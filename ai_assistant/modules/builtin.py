"""The modules of pages that no app has one for."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from ai_assistant.modules.base import ContextModule


class DefaultModule(ContextModule):
    """Every page without a module: the shared tools and those of its view."""

    id = "default"


class AdminIndexModule(ContextModule):
    """The start page of the admin and the lists of an app's models."""

    id = "admin-index"
    label = _("Administration")
    matches: ClassVar = ["admin:index", "admin:app_list"]
    prompt = (
        "The user is at the start of the administration and may want to find something."
    )


class AdminListModule(ContextModule):
    """The list of a model."""

    id = "admin-list"
    label = _("List")
    matches: ClassVar = ["admin:*_changelist"]
    prompt = (
        "The user looks at a list. What is searched and filtered is in the page's item."
    )


class AdminFormModule(ContextModule):
    """The form of a new or of an existing object."""

    id = "admin-form"
    label = _("Form")
    matches: ClassVar = ["admin:*_add", "admin:*_change"]
    prompt = (
        "The user has a form open. A change that you make is not seen in it until "
        "the page is loaded again; say so after a change."
    )


class AdminHistoryModule(ContextModule):
    """The history of an object."""

    id = "admin-history"
    label = _("History")
    matches: ClassVar = ["admin:*_history"]
    read_only = True
    prompt = "The user looks at what was changed. Nothing can be changed from here."


BUILT_IN: tuple[ContextModule, ...] = (
    AdminIndexModule(),
    AdminListModule(),
    AdminFormModule(),
    AdminHistoryModule(),
)
