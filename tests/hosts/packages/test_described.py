"""What is told of a model before anything is written is what its form asks for."""

import pytest
from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.test import Client
from django.urls import reverse

from tests.hosts.packages.context import context_on, use
from tests.hosts.packages.test_same_rows import boss, cases

__all__ = ["boss"]  # a fixture
ADDED = {
    case.model
    for case in cases.CASES.values()
    if case.tool == "create_object" and not case.query
}


def has_default(model, name):
    try:
        return model._meta.get_field(name).has_default()
    except FieldDoesNotExist:
        return False


@pytest.mark.parametrize("label", sorted(ADDED))
def test_fields_of_the_form_are_described_as_it_has_them(label, boss):
    cases.make()
    client = Client()
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    model = apps.get_model(label)
    name = f"{model._meta.app_label}_{model._meta.model_name}"
    page = client.get(reverse(f"admin:{name}_add"), follow=True)
    form = page.context_data["adminform"].form
    fields, shown = form.fields, type(form.instance)
    context = context_on("/admin/", client, boss)

    told = use(context, "describe_model", model=label)
    if shown is not model:  # of an only child
        model, own = shown, shown._meta.label_lower
        assert told["child_models"] == [own]
        told = use(context, "describe_model", model=own)
    described = {one["name"]: one for one in told["fields"]}

    required = {
        name
        for name, field in fields.items()
        if field.required and not field.disabled and not has_default(model, name)
    }
    known = {name for name, one in described.items() if one.get("required")}
    assert known == required & {*described}
    left_out = {*fields} - {*described}
    assert left_out <= getattr(cases, "NOT_DESCRIBED", set())
