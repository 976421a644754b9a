"""Generated forms of the admin: kinds of fields, of widgets, of inlines and of rules."""

import random
from types import ModuleType
from typing import Any

from django import forms
from django.contrib import admin
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


class ProductForm(forms.ModelForm):
    """It has fields of its own; the page may show them or not."""

    notify = forms.BooleanField(required=False, initial=True)
    reason = forms.CharField(required=False, initial="because")


class PrefixedForm(ProductForm):
    prefix = "own"


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
    form = rng.choice([forms.ModelForm, ProductForm, PrefixedForm])
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
        where = rng.choice(["filter_horizontal", "raw_id_fields"])
        options[where] = [*options.get(where, ()), "marks"]
    choices = {
        "made_on": forms.SelectDateWidget(years=range(2020, 2031)),
        "note": LoudInput(),
        "weight": forms.HiddenInput(),
        "marks": forms.CheckboxSelectMultiple(),
    }
    own = {name: widget for name, widget in choices.items() if rng.random() < 0.3}
    options["own_widgets"] = own
    options["hides_initial"] = rng.random() < 0.2
    if "note" in shown and rng.random() < 0.4:
        options["prepopulated_fields"] = {"note": ("name",)}


def _choose_rules(rng: random.Random, options: Any, free: list[str]) -> None:
    own_widgets, hides_initial = options["own_widgets"], options["hides_initial"]
    drops = rng.choice(["", *free]) if rng.random() < 0.2 else ""

    def formfield_for_dbfield(self, db_field, request, **kwargs):
        if db_field.name in own_widgets:
            kwargs["widget"] = own_widgets[db_field.name]
        made = admin.ModelAdmin.formfield_for_dbfield
        field = made(self, db_field, request, **kwargs)
        if field is not None and hides_initial and db_field.name == "price":
            field.show_hidden_initial = True
        return field

    def get_readonly_fields(self, request, obj=None):
        own = admin.ModelAdmin.get_readonly_fields(self, request, obj)
        return (*own, drops) if drops and obj is not None else own

    made = [formfield_for_dbfield, get_readonly_fields, get_form]
    if rng.random() < 0.3:
        made.append(formfield_for_manytomany)
    options.update({one.__name__: one for one in made})


def formfield_for_manytomany(self, db_field, request, **kwargs):
    kwargs["queryset"] = Mark.objects.exclude(name="heavy")
    made = admin.ModelAdmin.formfield_for_manytomany
    return made(self, db_field, request, **kwargs)


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
    }
    remark = {"model": Remark, "extra": rng.choice([0, 1]), "max_num": 2}
    made = [
        type("GeneratedParts", (base,), part),
        type("GeneratedRemarks", (admin.TabularInline,), remark),
    ]
    return rng.choice([made, made, made[:1], made[1:], []])
