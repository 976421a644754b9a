"""Classes of a site's admin in the looks of Unfold."""

from django.contrib import admin
from unfold.admin import ModelAdmin, StackedInline, TabularInline

INLINES = {admin.TabularInline: TabularInline, admin.StackedInline: StackedInline}


def dress(own, base, *, more=()):
    """Return the class `own` with `base` of Unfold before its other bases."""
    return type(own.__name__, (*more, base, own), {"__module__": own.__module__})


def dress_inline(own):
    """Return it in Unfold's looks, and on a tab of its own."""
    bases = [base for stock, base in INLINES.items() if issubclass(own, stock)]
    if not bases:
        return own
    dressed = dress(own, bases[0])
    dressed.tab = True
    dressed.classes = ()  # Unfold's own script fails on a tab that is folded too
    return dressed


def dress_admin(registered, *, more=()):
    """Return the class of a registered ModelAdmin in Unfold's looks, and its inlines."""
    dressed = dress(type(registered), ModelAdmin, more=more)
    dressed.inlines = [dress_inline(inline) for inline in registered.inlines]
    return dressed
