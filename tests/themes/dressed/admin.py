"""
The models of the site once more, in the classes that Unfold draws well.

Unfold styles only what inherits from its own classes, so a site changes its imports;
here each class gets them as a base.
"""

from django.contrib import admin
from unfold.admin import ModelAdmin, StackedInline, TabularInline

INLINES = {admin.TabularInline: TabularInline, admin.StackedInline: StackedInline}


def dress(own, base, **more):
    """Return the class `own` with `base` of Unfold before its other bases."""
    return type(own.__name__, (base, own), {"__module__": own.__module__, **more})


def dress_inline(own):
    """Return it in Unfold's looks, and on a tab of its own."""
    bases = [base for stock, base in INLINES.items() if issubclass(own, stock)]
    # Unfold's own script fails on a tab that is folded too.
    return dress(own, bases[0], tab=True, classes=()) if bases else own


for model, registered in [*admin.site._registry.items()]:
    dressed = dress(type(registered), ModelAdmin)
    dressed.inlines = [dress_inline(inline) for inline in registered.inlines]
    admin.site.unregister(model)
    admin.site.register(model, dressed)
