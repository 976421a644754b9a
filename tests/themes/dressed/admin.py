"""
The models of the site once more, in the classes that Unfold draws well.

Unfold styles only what inherits from its own classes, so a site changes its imports;
here each class gets them as a base.
"""

from django.contrib import admin

from tests.themes.unfolded import dress_admin

for model, registered in [*admin.site._registry.items()]:
    admin.site.unregister(model)
    admin.site.register(model, dress_admin(registered))
