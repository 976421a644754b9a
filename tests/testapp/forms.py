"""A page with several forms, which tells what was posted to it."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

LEVELS = [("", "---"), ("low", "Low"), ("high", "High")]
TAGS = [("new", "New"), ("old", "Old"), ("odd", "Odd")]


class Profile(forms.Form):
    name = forms.CharField(max_length=20, help_text="As on the card.", initial="Bob")
    nick = forms.CharField(
        required=False, widget=forms.TextInput({"pattern": "[a-z]+"})
    )
    born = forms.DateField(required=False, widget=forms.DateInput({"type": "date"}))
    at = forms.SplitDateTimeField(required=False)
    kind = forms.ChoiceField(choices=LEVELS[1:], widget=forms.RadioSelect)
    level = forms.ChoiceField(choices=LEVELS, required=False)
    tags = forms.MultipleChoiceField(
        choices=TAGS, required=False, widget=forms.CheckboxSelectMultiple
    )
    more = forms.MultipleChoiceField(choices=TAGS, required=False)
    agree = forms.BooleanField(required=False)
    about = forms.CharField(required=False, widget=forms.Textarea)
    is_staff = forms.BooleanField(required=False)
    password = forms.CharField(required=False, widget=forms.PasswordInput)
    step = forms.CharField(initial="2", widget=forms.HiddenInput)
    photo = forms.FileField(required=False)


class Address(forms.Form):
    street = forms.CharField(max_length=20, required=False)
    city = forms.CharField(required=False)


class Item(forms.Form):
    title = forms.CharField()
    amount = forms.IntegerField(max_value=9)


Items = forms.formset_factory(Item, extra=1, can_delete=True)
# Of which the page has an empty row.
Parts = forms.formset_factory(Item, extra=0, can_delete=True, max_num=3)


def page(request: HttpRequest) -> HttpResponse:
    """Show the forms; of a POST tell what was posted, and what is wrong with it."""
    data = request.POST or None
    profile = Profile(data, prefix=None)
    items = Items(data, prefix="item", initial=[{"title": "Pen", "amount": 1}])
    is_order = request.GET.get("which") == "order"
    parts = Parts(data if is_order else None, prefix="part", initial=[{"title": "Nib"}])
    told = {}
    if data:
        wrong = parts.errors if is_order else [profile.errors, items.errors]
        told = {"posted": dict(request.POST.lists()), "wrong": wrong}
    values = {
        "profile": profile,
        "items": items,
        "parts": parts,
        "billing": Address(prefix="billing", initial={"city": "Oslo"}),
        "delivery": Address(prefix="delivery"),
        "told": told,
    }
    return render(request, "testapp/forms.html", values)
