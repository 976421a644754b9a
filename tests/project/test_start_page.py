"""The start page of the demo project, and what all of its own pages share."""

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

pytestmark = [pytest.mark.django_db, pytest.mark.urls("project.urls")]


def test_leads_to_each_place(client):
    html = client.get("/").content.decode()

    for name in ("index", "wiki_page_index", "discover_logline_explore"):
        assert f'href="{reverse(f"admin:{name}")}"' in html


@pytest.mark.parametrize(
    "name", ["start", "admin:wiki_page_index", "admin:discover_logline_explore"]
)
def test_page_of_the_project_has_its_style(admin_client, name):
    response = admin_client.get(reverse(name))

    assert "base.html" in [template.name for template in response.templates]
    assert 'href="/static/demo.css"' in response.content.decode()


def test_style_is_found():
    assert finders.find("demo.css")
