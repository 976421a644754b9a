"""What is read, described and shown is in the language of the tab that is open."""

import pytest
from django.contrib.admin.sites import site
from django.core.cache import cache
from django.test import Client
from django.utils.translation import override

from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models import Run
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from tests.hosts.packages.context import context_on, texts_of, use
from tests.hosts.packages.sites.parler import cases
from tests.hosts.packages.sites.parler.models import News
from tests.hosts.packages.test_same_rows import shown_card

NEWS, ALBUM = "host.news", "host.album"
ADMIN = f"/{site.name}/host"
TABS = [
    ("1/change/", "en", "A1"),
    ("1/change/?language=nl", "en", "N1"),
    ("1/change/?language=nl", "nl", "N1"),
    ("1/change/?language=en", "nl", "A1"),
    ("3/change/?language=nl", "en", ""),  # has no texts in Dutch
]


@pytest.fixture
def client(boss):
    with override("en"):  # a page leaves its language to what comes after it
        cache.clear()  # which keeps texts of other tests
        cases.make()
        News.objects.create(pk=3, title="A3")
        client = Client()
        client.force_login(boss)
        yield client


@pytest.fixture
def on(client, boss):
    """Return what a person on a page sees there, and the run that they start."""

    def visit(page, language):
        client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        response = client.get(page)
        assert response.status_code == 200
        context = context_on(page, client, boss, language)
        return response.context_data, context, Run.objects.get(pk=context.run_id)

    return visit


@pytest.mark.parametrize(("tab", "language", "title"), TABS)
def test_texts_of_the_tab(on, boss, tab, language, title):
    page, context, run = on(f"{ADMIN}/news/{tab}", language)
    form = page["adminform"].form

    with run.as_sent():
        found = use(context, "get_object", model=NEWS, id=int(tab[0]))
        items = {item.id: item.value for item in RunScope(run, boss).items}

    typed = form["title"].value() or ""
    assert typed == title
    for told in (found, items["object"]):
        assert (told["fields"]["title"] or "") == title
        assert told["language"] == form.language_code
        assert told["text"] == str(form.instance)


@pytest.mark.parametrize("language", ["en", "nl"])
def test_texts_on_another_page(on, client, language):
    """There the object is read as its page opens without a tab."""
    _page, context, run = on(f"{ADMIN}/news/", language)
    own = client.get(f"{ADMIN}/news/1/change/").context_data["adminform"].form

    with run.as_sent():
        found = use(context, "get_object", model=NEWS, id=1)

    assert found["fields"]["title"] == own["title"].value()
    assert found["language"] == own.language_code


@pytest.mark.parametrize(
    ("query", "caption"), [("", "P"), ("?language=nl", "F"), ("?language=en", "P")]
)
def test_texts_of_rows(on, query, caption):
    page, context, run = on(f"{ADMIN}/album/1/change/{query}", "en")
    (formset,) = page["inline_admin_formsets"]

    with run.as_sent():
        (rows,) = use(context, "get_object", model=ALBUM, id=1)["inlines"]

    assert formset.formset.forms[0]["caption"].value() == caption
    assert rows["rows"][0]["fields"]["caption"] == caption
    assert rows["rows"][0]["text"] == caption


def test_texts_are_described(on):
    _page, context, _run = on(f"{ADMIN}/news/", "en")

    of_news = use(context, "describe_model", model=NEWS)["fields"]
    (rows,) = use(context, "describe_model", model=ALBUM)["inlines"]

    told = {one["name"]: one for one in [*of_news, *rows["fields"]]}
    assert {"number", "title", "body", "width", "caption"} <= {*told}
    assert told["title"]["required"] is True
    assert (told["title"]["max_length"], told["caption"]["max_length"]) == (50, 50)
    assert "required" not in told["body"]


@pytest.mark.parametrize(
    ("query", "language", "before", "named"),
    [
        ("", "en", "A1", "(English)"),
        ("?language=nl", "en", "N1", "(Dutch)"),
        ("?language=nl", "de", "N1", "(Niederländisch)"),
        ("?language=en", "de", "A1", "(Englisch)"),
    ],
)
def test_card_has_the_texts_of_the_tab(on, query, language, before, named):
    _page, context, run = on(f"{ADMIN}/news/1/change/{query}", language)
    tool = registry.tool("change_object")
    given = {"model": NEWS, "id": "1", "values": {"title": "Other"}}

    with run.as_sent():
        card = shown_card(tool, context, validate_arguments(tool, given))

    assert card.title.endswith(named)
    assert card.warnings == ()
    assert texts_of(card)["title"] == (before, "Other")
