"""The tools never tell more of an object than the pages of the admin show."""

from collections import Counter

import pytest
from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.test import Client

from ai_assistant import ModelRetry
from ai_assistant.safety.policy.sensitive import HIDDEN
from ai_assistant.tools.data.access import model_admin
from tests.figures import FIGURE
from tests.thorough import part
from tests.tools.data.oracle.comparing import ROLES, make_user
from tests.tools.data.oracle.telling import (
    PagesTell,
    ToolsTell,
    log_changes,
    secrets,
    telling_things,
)
from tests.tools.data.oracle.variants import VARIANTS
from tests.tools.data.reading import call
from tests.tools.data.writing import preview, shown, use
from tests.warehouse.models import Supplier, Thing

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.tools.data.oracle.urls"),
]

TRIED = part(VARIANTS, every=18, start=2)


def told_of(role, model):
    """Yield what was asked, what the pages tell and what the tools tell of each thing."""
    user = make_user(role, model)
    user.username = f"person-{role}"  # no word of an answer
    user.save()
    client = Client()
    client.force_login(user)
    pages, tools = PagesTell(client, model), ToolsTell(user, model)
    things = telling_things(user)
    log_changes(model, things)
    for thing in things:
        real = pages.told(thing)
        for way, own in tools.ways(thing):
            yield f"{role}: {way} of {thing}", set(secrets(thing)), real, own


@pytest.mark.parametrize("variant", TRIED)
def test_never_more_than_the_pages_show(variant, monkeypatch, record_property):
    # Names of other models, for a refusal: they take longer than all the rest.
    monkeypatch.setattr(model_admin, "_similar_models", lambda *_args: "")
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    tally, more = Counter(), []

    for role in part(ROLES, every=3):
        for asked, every, real, own in told_of(role, VARIANTS[variant]):
            tally["compared"] += len(every)
            tally["told"] += len(own)
            tally["hidden"] += len(every - real)
            more += [f"{asked} tells {name}" for name in sorted(own - real)]
        Thing.objects.all().delete()
        Supplier.objects.all().delete()

    record_property(FIGURE, f"oracle of telling, {variant}: {dict(tally)}")
    assert more == []
    assert tally["told"] > 10
    assert tally["hidden"] > 10


@pytest.mark.parametrize("role", ["editor", "manager"])
def test_no_choices_of_forms_that_do_not_open(role):
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    model = VARIANTS["OwnViews-Whole"]
    user = make_user(role, model)
    telling_things(user)

    with pytest.raises(ModelRetry, match="cannot be used"):
        call("find_related", user, model=model._meta.label_lower, field="place")


def test_choices_of_a_form_of_the_site_that_opens():
    model = VARIANTS["OwnViews-Whole"]
    user = make_user("superuser", model)
    telling_things(user)
    found = call("find_related", user, model=model._meta.label_lower, field="place")

    assert len(found["rows"]) == 2


def test_the_context_knows_an_object_whose_own_page_opens():
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    model = VARIANTS["OwnChangeView-Whole"]
    editor = make_user("editor", model)
    own, other = telling_things(editor)
    tools = ToolsTell(editor, model)

    wanted = {"name", "amount", "note", "owner", "place"}
    assert dict(tools.ways(own))["context of change"] == wanted
    assert dict(tools.ways(other))["context of change"] == set()


def test_orders_by_no_field_of_a_page_that_does_not_open():
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    model = VARIANTS["OwnObject-Whole"]
    editor, boss = make_user("editor", model), make_user("superuser", model)
    telling_things(editor)
    asked = {"model": model._meta.label_lower, "ordering": ["note"]}

    with pytest.raises(ModelRetry, match="may not open every page"):
        call("search_objects", editor, **asked)
    assert call("search_objects", boss, **asked)["total"] == 2


def test_names_no_choice_that_the_form_does_not_offer():
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    model = VARIANTS["LimitedNames-Whole"]
    editor = make_user("editor", model)
    own, other = telling_things(editor)
    label = model._meta.label_lower

    def kind_of(thing):
        return call("get_object", editor, model=label, id=thing.pk)["fields"]["kind"]

    groups = call("aggregate_objects", editor, model=label, group_by=["kind"])["rows"]
    told = call("describe_model", editor, model=label)["fields"]
    choices = next(one for one in told if one["name"] == "kind")["choices"]

    assert (kind_of(own), kind_of(other)) == ("a", None)
    assert {one["group"]["kind"] for one in groups} == {"a", None}
    assert [one["value"] for one in choices] == ["a"]


def losing():
    """Return an editor, and a thing of which the form offers half the values."""
    create_permissions(apps.get_app_config("warehouse"), verbosity=0)
    model = VARIANTS["LimitedNames-Whole"]
    editor = make_user("editor", model)
    _own, other = telling_things(editor)
    return editor, other, {"model": model._meta.label_lower, "values": {"name": "new"}}


def test_shows_what_the_form_loses_without_telling_it():
    editor, other, asked = losing()

    card = shown(preview("change_object", editor, id=other.pk, **asked))
    result = use("change_object", editor, id=other.pk, **asked)

    assert result.ok
    assert {name: before for name, (before, _after) in card.items()} == {
        "name": other.name,
        **dict.fromkeys(("kind", "place"), HIDDEN),
        "marks": f"told-mark-1, {HIDDEN}",
    }
    assert type(other).objects.get(pk=other.pk).place is None
    assert [one.name for one in other.marks.all()] == ["told-mark-1"]


def test_many_are_refused_that_the_form_would_lose():
    editor, other, asked = losing()
    offered = "Select a valid choice. That choice is not one of the available choices."

    result = use("change_objects", editor, ids=[other.pk], **asked)

    fields = {key: [offered] for key in ("kind", "place", "marks")}
    assert (result.ok, result.data["fields"]) == (False, fields)
