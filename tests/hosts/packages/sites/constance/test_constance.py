"""A page in the registry of the admin that has no model takes nothing away."""

import pytest

from ai_assistant import ModelRetry
from tests.hosts.packages.context import context_on, items_on, use

PAGE = "/admin/constance/config/"


@pytest.fixture
def client(client):
    assert client.get(PAGE).status_code == 200
    return client


@pytest.fixture
def context(client, boss):
    return context_on(PAGE, client, boss)


def test_models_are_listed_without_it(context):
    labels = {one["model"] for one in use(context, "list_models")}

    assert "host.poll" in labels
    assert not [one for one in labels if one.startswith("constance")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("constance.config", "There is no model 'constance.config' that the user"),
        ("host.pol", "Similar: host.poll"),
    ],
)
def test_names_of_no_model(context, name, said):
    with pytest.raises(ModelRetry, match=said):
        use(context, "describe_model", model=name)


def test_its_page(client, boss):
    items = items_on(PAGE, client, boss)

    assert items["page"].value["view"] == "admin:constance_config_changelist"
    assert "object" not in items
