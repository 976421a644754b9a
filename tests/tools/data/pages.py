"""ModelAdmins whose pages are as those of packages, and a site that serves them."""

from contextlib import contextmanager
from types import ModuleType

from django import forms
from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.contrib.admin.helpers import InlineAdminFormSet
from django.forms.models import BaseInlineFormSet
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import clear_url_caches, path, reverse
from django.utils.html import format_html

from tests.library.models import Book, Copy
from tests.warehouse.models import Part, Product, Supplier


@contextmanager
def served(settings, model, admin_class, *, prefixed=False):
    """
    Serve one ModelAdmin on the default site, in place of its own.

    The addresses of a `prefixed` site begin with a language.
    """
    before = admin.site._registry.get(model)
    admin.site._registry[model] = admin_class(model, admin.site)
    urls = ModuleType("urls_of_pages")
    own = [path("admin/", admin.site.urls)]
    urls.urlpatterns = i18n_patterns(*own) if prefixed else own
    settings.ROOT_URLCONF = urls
    clear_url_caches()
    try:
        yield
    finally:
        del admin.site._registry[model]
        if before is not None:
            admin.site._registry[model] = before
        clear_url_caches()


class LooseForm(forms.ModelForm):
    """Its page does not show this field, and never posts it."""

    loose = forms.CharField(required=False, initial="set")


class LooseAdmin(admin.ModelAdmin):
    form = LooseForm
    fields = ("name", "sku", "supplier")

    def save_model(self, request, obj, form, change):
        if form.cleaned_data["loose"]:
            obj.margin = 99
        super().save_model(request, obj, form, change)


class TabbedAdmin(admin.ModelAdmin):
    """Writes the language of the tab, as that of django-parler does."""

    fields = ("note", "name", "sku", "supplier")

    def save_model(self, request, obj, form, change):
        obj.note = f"{obj.note} ({request.GET.get('language', 'en')})"
        super().save_model(request, obj, form, change)

    def get_changeform_initial_data(self, request):
        return {"name": request.GET.get("called", "")}


class PrepopulatedAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "supplier", "note")

    def get_prepopulated_fields(self, request, obj=None):
        return {"note": ("name", "sku")}


class RankWidget(forms.Widget):
    """Two inputs and a script, as packages have them."""

    def render(self, name, value, attrs=None, renderer=None):
        html = '<input name="{0}_high" value="{1}"><select name="{0}_low">{2}</select>'
        options = format_html('<option value="{}" selected>', value % 10)
        return format_html(html, name, value // 10, options)

    def value_from_datadict(self, data, files, name):
        return str(int(data[f"{name}_high"]) * 10 + int(data[f"{name}_low"]))


class RankAdmin(admin.ModelAdmin):
    fields = ("name", "margin", "supplier", "sku")

    def formfield_for_dbfield(self, db_field, request, **kwargs):
        if db_field.name == "margin":
            kwargs["widget"] = RankWidget()
        return super().formfield_for_dbfield(db_field, request, **kwargs)


class OwnViewAdmin(admin.ModelAdmin):
    """Its view makes what it shows, as that of django-solo does."""

    fields = ("name", "sku", "supplier", "sold_at")

    def change_view(self, request, object_id, form_url="", extra_context=None):
        Supplier.objects.create(name="seen", code=f"seen{Supplier.objects.count()}")
        return super().change_view(request, object_id, form_url, extra_context)

    def response_change(self, request, obj):
        self.message_user(request, "Take care.", level="warning")
        return HttpResponse("saved")


class ChildAdmin(admin.ModelAdmin):
    fields = ("name", "weight")


class ParentAdmin(admin.ModelAdmin):
    """Hands its page to another ModelAdmin, as that of django-polymorphic does."""

    fields = ("name",)

    def change_view(self, request, object_id, form_url="", extra_context=None):
        child = ChildAdmin(Product, self.admin_site)
        return child.change_view(request, object_id, form_url, extra_context)


class ClosedAdmin(admin.ModelAdmin):
    """Its page goes elsewhere when it is posted."""

    fields = ("name", "sku", "supplier")

    def changeform_view(self, request, *args, **kwargs):
        if request.method == "POST":
            return HttpResponseRedirect(reverse("admin:index"))
        return super().changeform_view(request, *args, **kwargs)


class OnePart(admin.TabularInline):
    model = Part
    extra = 0
    min_num = 1
    can_delete = False


class MinimumAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "supplier")
    inlines = (OnePart,)


# --- rows within rows, as django-nested-admin has them, and django-unfold ---


class NestingRows(admin.StackedInline):
    """As packages have them: with methods of the ModelAdmin."""

    extra = 0
    get_inline_instances = admin.ModelAdmin.get_inline_instances


class CopyRows(admin.TabularInline):
    model = Copy
    fields = ("code",)
    extra = 1


class BookRows(NestingRows):
    model = Book
    fields = ("title", "price")
    inlines = (CopyRows,)


class NestedAdmin(admin.ModelAdmin):
    fields = ("name",)
    inlines = (BookRows,)
    below = CopyRows

    def _below(self, request, form, number=None):
        inline = self.below(Book, self.admin_site)
        kind = inline.get_formset(request, None)
        given = {"data": request.POST, "files": request.FILES}
        is_posted = request.method == "POST" and number is None
        prefix = f"{number or form.prefix}-copies"
        made = kind(
            instance=form.instance, prefix=prefix, **(given if is_posted else {})
        )
        return made, inline

    def _create_formsets(self, request, obj, change):
        formsets, inlines = super()._create_formsets(request, obj, change)
        for formset in list(formsets):
            for form in formset.forms:
                form.below = self._below(request, form)
                if request.method == "POST":
                    formsets.append(form.below[0])
                    inlines.append(form.below[1])
        return formsets, inlines

    def get_inline_formsets(self, request, formsets, inline_instances, obj=None):
        made = super().get_inline_formsets
        found = made(request, formsets[:1], inline_instances[:1], obj)
        empty = found[0].formset.empty_form
        type(found[0].formset).empty_form = empty  # one, which knows what is below it
        below = [*found[0].formset.forms, empty]
        for form in below:
            pair = getattr(form, "below", None) or self._below(
                request, form, number="book_set-empty"
            )
            form.inlines = made(request, [pair[0]], [pair[1]], None)
        return found


class FormsetOfFormsets(BaseInlineFormSet):
    def is_valid(self):
        below = [one.formset for form in self.forms for one in form.nested_formsets]
        return super().is_valid() and all(one.is_valid() for one in below)


class PlainBookRows(admin.StackedInline):
    """It only names what is in its rows."""

    model = Book
    formset = FormsetOfFormsets
    fields = ("title", "price")
    extra = 0
    inlines = (CopyRows,)


class FormNestingAdmin(admin.ModelAdmin):
    """Has the formsets of a row in its form alone, and saves them with it."""

    fields = ("name",)
    inlines = (PlainBookRows,)

    def _create_formsets(self, request, obj, change):
        formsets, inlines = super()._create_formsets(request, obj, change)
        for formset in formsets:
            for form in formset.forms:
                form.nested_formsets = [self._below(request, form)]
            empty = self._below(request, formset.empty_form)
            formset.form.nested_formsets = [empty]  # of its class
        return formsets, inlines

    def _below(self, request, form):
        inline = CopyRows(Book, self.admin_site)
        prefix = f"{form.prefix}-copies"
        given = self.get_formset_kwargs(request, form.instance, inline, prefix)
        made = inline.get_formset(request, form.instance)(**given)
        fieldsets = inline.get_fieldsets(request, form.instance)
        return InlineAdminFormSet(inline, made, fieldsets, model_admin=self)

    def save_formset(self, request, form, formset, change):
        super().save_formset(request, form, formset, change)
        for row in formset.forms:
            for below in row.nested_formsets if formset.model is Book else ():
                super().save_formset(request, row, below.formset, change)


class FormNestingViewAdmin(FormNestingAdmin):
    """Its view is code of the site, too."""

    def changeform_view(self, request, *args, **kwargs):
        return super().changeform_view(request, *args, **kwargs)


NESTING = (NestedAdmin, FormNestingAdmin, FormNestingViewAdmin)
