"""
Tables of rights in an admin that opens them: proxies, children, twins, own tables.

The pages of this site give and take rights. No tool may, whoever asks.
"""

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, Permission
from django.db import models

from tests.library.models import Grant, Member
from tests.tools.data.oracle.variants import site

User = get_user_model()


def _proxy(name, base):
    options = type("Meta", (), {"proxy": True, "app_label": "library"})
    return type(name, (base,), {"__module__": __name__, "Meta": options})


UserGroup = _proxy("UserGroup", User.groups.through)
UserPerm = _proxy("UserPerm", User.user_permissions.through)
GroupPerm = _proxy("GroupPerm", Group.permissions.through)
Person = _proxy("Person", User)
Team = _proxy("Team", Group)


class GroupTwin(models.Model):
    """The same table once more, as a class of the site's own."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    group = models.ForeignKey(Group, models.CASCADE, related_name="+")

    class Meta:
        app_label = "library"
        managed = False
        db_table = User.groups.through._meta.db_table

    def __str__(self):
        return "twin"


def _inline(model):
    return type(f"{model.__name__}Inline", (admin.TabularInline,), {"model": model})


class TeamForm(forms.ModelForm):
    """A well-known recipe: the members of a group, on the page of the group."""

    members = forms.ModelMultipleChoiceField(User.objects.all(), required=False)

    class Meta:
        model = Team
        fields = ("name",)

    def _save_m2m(self):
        super()._save_m2m()
        self.instance.user_set.set(self.cleaned_data["members"])


class TeamAdmin(admin.ModelAdmin):
    form = TeamForm
    inlines = (_inline(GroupPerm),)


class PersonAdmin(UserAdmin):
    inlines = (_inline(UserGroup), _inline(UserPerm), _inline(Member))


LINKS = (UserGroup, UserPerm, GroupPerm, GroupTwin, Member, Grant)
for one in LINKS:
    site.register(one)
site.register(Person, PersonAdmin)
site.register(Team, TeamAdmin)

__all__ = ["LINKS", "Permission", "Person", "Team"]
