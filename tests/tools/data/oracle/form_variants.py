"""
Generated forms of the admin: kinds of fields, of widgets, of inlines and of rules.

Rows within rows are generated in `test_generated_rows`.
"""

import random
from types import ModuleType
from typing import Any

from django import forms
from django.contrib import admin
from django.forms.models import BaseInlineFormSet
from django.urls import path
from django.utils.html import format_html

from project.urls import urlpatterns as of_the_project
from tests.warehouse.models import Mark, Part, Product, Remark, Supplier

FIELDS = (
    *("name", "sku", "supplier", "backup", "marks", "status", "price", "weight"),
    *("made_on", "sold_at", "opens", "lasts", "is_fragile", "approved", "data"),
    *("note", "cover", "seen_at"),
)
REQUIRED = ("name", "sku", "supplier")


class LoudInput(forms.TextInput):
    """Renders an input of its own, and another one beside it."""

    def render(self, name, value, attrs=None, renderer=None):
        text = super().render(name, value, attrs, renderer)
        beside = '<b>{}</b><input type="hidden" name="{}_loud" value="1">'
        return format_html(beside, text, name)


class RecentYears(forms.SelectDateWidget):
    def __init__(self):
        super().__init__(years=range(2020, 2031))


class YesOrNo(forms.Select):
    def __init__(self):
        super().__init__(choices=[("True", "Yes"), ("False", "No")])


class ShownPassword(forms.PasswordInput):
    def __init__(self):
        super().__init__(render_value=True)


class ProductForm(forms.ModelForm):
    """It has fields of its own; the page may show them or not."""

    notify = forms.BooleanField(required=False, initial=True)
    reason = forms.CharField(required=False, initial="because")


class PrefixedForm(ProductForm):
    prefix = "own"


class DependentForm(ProductForm):
    """What one field offers depends on another, as it is or as it is posted."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        chosen = self.data.get(self.add_prefix("supplier"))
        chosen = chosen or self.instance.supplier_id
        if "backup" in self.fields and chosen:
            self.fields["backup"].queryset = Supplier.objects.exclude(pk=chosen)


class PrefixedRows(BaseInlineFormSet):
    @classmethod
    def get_default_prefix(cls):
        return "lines"


# By field, beside what the admin takes by itself.
WIDGETS = {
    "name": (forms.Textarea, forms.EmailInput, forms.URLInput),
    "sku": (forms.SearchInput, forms.TelInput, forms.TextInput),
    "supplier": (forms.HiddenInput, forms.RadioSelect, forms.Select),
    "backup": (forms.HiddenInput, forms.RadioSelect, forms.Select),
    "marks": (
        forms.CheckboxSelectMultiple,
        forms.MultipleHiddenInput,
        forms.SelectMultiple,
    ),
    "status": (forms.RadioSelect, forms.HiddenInput, forms.TextInput),
    "price": (forms.TextInput, forms.NumberInput, forms.HiddenInput),
    "weight": (forms.HiddenInput, forms.TextInput),
    "made_on": (RecentYears, forms.DateInput, forms.TextInput),
    "sold_at": (forms.SplitDateTimeWidget, forms.SplitHiddenDateTimeWidget),
    "seen_at": (forms.SplitDateTimeWidget, forms.SplitHiddenDateTimeWidget),
    "opens": (forms.TimeInput, forms.TextInput),
    "lasts": (forms.Textarea, forms.HiddenInput),
    "is_fragile": (YesOrNo, forms.HiddenInput, forms.NullBooleanSelect),
    "data": (forms.TextInput, forms.HiddenInput),
    "note": (LoudInput, ShownPassword, forms.HiddenInput, forms.Textarea),
    "cover": (forms.FileInput, forms.ClearableFileInput),
}


def make_site(seed: int) -> tuple[admin.AdminSite, ModuleType]:
    """Return a site with one generated ModelAdmin, and the URLs that mount it."""
    rng = random.Random(seed)
    site = admin.AdminSite(name=f"generated{seed}")
    site.register(Product, _product_admin(rng))
    site.register(Supplier, type("Own", (admin.ModelAdmin,), {"search_fields": "n"}))
    site.register(Mark, type("Own", (admin.ModelAdmin,), {"search_fields": "n"}))
    urls = ModuleType(f"generated_urls_{seed}")
    urls.urlpatterns = [path("generated/", site.urls), *of_the_project]
    return site, urls


def _product_admin(rng: random.Random) -> type[admin.ModelAdmin]:
    shown = [*REQUIRED, *(one for one in FIELDS[3:] if rng.random() < 0.7)]
    free = [one for one in shown[3:] if one != "note"]
    readonly = [one for one in free if rng.random() < 0.1]
    form = rng.choice([forms.ModelForm, ProductForm, PrefixedForm, DependentForm])
    if form is not forms.ModelForm:
        shown += [one for one in ("notify", "reason") if rng.random() < 0.5]
    rng.shuffle(shown)
    options: dict[str, Any] = {
        "form": form,
        "fieldsets": _fieldsets(rng, shown),
        "readonly_fields": ("number", *readonly),
        "inlines": _inlines(rng),
        "save_model": _save_model,
        "is_generated": True,
    }
    _choose_widgets(rng, options, shown)
    _choose_rules(rng, options, free)
    return type("GeneratedAdmin", (admin.ModelAdmin,), options)


def _fieldsets(rng: random.Random, shown: list[str]) -> list[Any]:
    lines: list[Any] = []
    names = list(shown)
    while names:
        count = rng.choice([1, 1, 1, 2, 3])
        line, names = names[:count], names[count:]
        lines.append(tuple(line) if count > 1 else line[0])
    cut = rng.randrange(len(lines))
    sets = [(None, {"fields": lines[:cut]}), ("More", {"fields": lines[cut:]})]
    return [one for one in sets if one[1]["fields"]]


def _choose_widgets(rng: random.Random, options: Any, shown: list[str]) -> None:
    kind = rng.choice(["", "raw_id_fields", "autocomplete_fields", "radio_fields"])
    if kind == "radio_fields":
        options[kind] = {"supplier": admin.VERTICAL, "status": admin.HORIZONTAL}
    elif kind:
        options[kind] = ["supplier", "backup"]
    if rng.random() < 0.5:
        where = rng.choice(MANY)
        options[where] = [*options.get(where, ()), "marks"]
    chance = rng.choice([0, 0.2, 0.5])  # without any, the form classes are kept
    options["own_widgets"] = {
        name: rng.choice(kinds)
        for name, kinds in WIDGETS.items()
        if rng.random() < chance
    }
    options["hides_initial"] = rng.random() < chance / 2
    if "note" in shown and rng.random() < 0.4:
        options["prepopulated_fields"] = {"note": ("name",)}


MANY = ("filter_horizontal", "filter_vertical", "raw_id_fields", "autocomplete_fields")


def _choose_rules(rng: random.Random, options: Any, free: list[str]) -> None:
    drops = rng.choice(["", *free]) if rng.random() < 0.2 else ""

    def get_readonly_fields(self, request, obj=None):
        own = admin.ModelAdmin.get_readonly_fields(self, request, obj)
        return (*own, drops) if drops and obj is not None else own

    made = [get_readonly_fields]
    if options["own_widgets"] or options["hides_initial"]:
        made.append(formfield_for_dbfield)
    for rule in (get_form, formfield_for_manytomany, changeform_view):
        if rng.random() < 0.3:
            made.append(rule)
    options.update({one.__name__: one for one in made})
    if rng.random() < 0.3:
        options["formfield_for_foreignkey"] = rng.choice([_by_object, _by_person])


def formfield_for_dbfield(self, db_field, request, **kwargs):
    if db_field.name in self.own_widgets:
        kwargs["widget"] = self.own_widgets[db_field.name]()
    field = admin.ModelAdmin.formfield_for_dbfield(self, db_field, request, **kwargs)
    if field is not None and self.hides_initial and db_field.name == "price":
        field.show_hidden_initial = True
    return field


def formfield_for_manytomany(self, db_field, request, **kwargs):
    kwargs["queryset"] = Mark.objects.exclude(name="heavy")
    made = admin.ModelAdmin.formfield_for_manytomany
    return made(self, db_field, request, **kwargs)


def _by_object(self, db_field, request, **kwargs):
    number = request.resolver_match.kwargs.get("object_id")
    if db_field.name == "backup" and number:
        kwargs["queryset"] = Supplier.objects.exclude(products=number)
    made = admin.ModelAdmin.formfield_for_foreignkey
    return made(self, db_field, request, **kwargs)


def _by_person(self, db_field, request, **kwargs):
    if db_field.name == "backup" and not request.user.is_superuser:
        kwargs["queryset"] = Supplier.objects.exclude(code="BO")  # the one that is set
    made = admin.ModelAdmin.formfield_for_foreignkey
    return made(self, db_field, request, **kwargs)


def changeform_view(self, request, *args, **kwargs):
    """Let the form be taken from the response of the view, as it is code of the site."""
    return admin.ModelAdmin.changeform_view(self, request, *args, **kwargs)


def get_form(self, request, obj=None, change=False, **kwargs):  # noqa: FBT002
    form = admin.ModelAdmin.get_form(self, request, obj, change, **kwargs)
    if "weight" in form.base_fields and not request.user.is_superuser:
        form.base_fields["weight"].disabled = True
    return form


def _save_model(self, request, obj, form, change):
    if form.cleaned_data.get("reason") == "because":
        obj.margin = 99  # a page that does not show the field never comes here
    if form.cleaned_data.get("notify"):
        obj.margin += 1
    admin.ModelAdmin.save_model(self, request, obj, form, change)


def _inlines(rng: random.Random) -> list[Any]:
    base = rng.choice([admin.TabularInline, admin.StackedInline])
    part = {
        "model": Part,
        "extra": rng.choice([0, 1, 2]),
        "min_num": rng.choice([None, None, 1]),
        "can_delete": rng.random() < 0.8,
        "readonly_fields": rng.choice([(), (), ("count",)]),
        "formset": rng.choice([BaseInlineFormSet, BaseInlineFormSet, PrefixedRows]),
    }
    remark = {"model": Remark, "extra": rng.choice([0, 1]), "max_num": 2}
    made = [
        type("GeneratedParts", (base,), part),
        type("GeneratedRemarks", (admin.TabularInline,), remark),
    ]
    return rng.choice([made, made, made[:1], made[1:], []])
