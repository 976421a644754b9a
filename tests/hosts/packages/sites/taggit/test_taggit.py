"""A page says that its tags were changed, and no Save undoes that in silence."""

import time

import pytest
from taggit.utils import parse_tags

from ai_assistant import conf
from ai_assistant.render.html.transcript.stale import is_stale, tables_shown
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.sites.taggit.models import Article
from tests.tools.data.oracle.browser import posted_by
from tests.web.tabs import Tab

PAGE, OTHER = (f"/admin/host/article/{pk}/change/" for pk in (1, 2))


@pytest.fixture
def tab(client, settings):
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, {"ENABLED": True})
    return Tab(client, PAGE, "article_form")


def change_tags(user, tags):
    given = {"model": "host.article", "id": 1, "values": {"tags": tags}}
    replies = [reply("", call("change_object", given)), "Done."]
    played = run_assistant(user, PAGE, "Change the tags.", replies=replies)
    assert answer_interrupt(played, "approve").state == "succeeded"


@pytest.mark.parametrize("tags", [["blue", "red"], ["red"]], ids=["other", "fewer"])
def test_old_form_does_not_undo_tags_in_silence(tab, boss, tags):
    opened = str(int(time.time() * 1000))
    assert not is_stale(PAGE, opened, boss.pk)
    change_tags(boss, tags)

    tab.put("title", "Other")
    asked = tab.save()

    assert is_stale(PAGE, opened, boss.pk)
    assert not is_stale(OTHER, opened, boss.pk)
    assert "taggit.taggeditem" in tables_shown(PAGE)
    assert asked.status_code == 409
    assert "_aia_choice-tags" in asked.content.decode()
    assert {*Article.objects.get(pk=1).tags.names()} == {*tags}


def test_tags_of_the_open_object_are_those_of_its_page(client, boss):
    shown = posted_by(client.get(PAGE).content.decode(), "article_form")["tags"]
    context = context_on(PAGE, client, boss)

    told = items_on(PAGE, client, boss)["object"].value["fields"]["tags"]
    found = use(context, "get_object", model="host.article", id="1")["fields"]["tags"]

    assert told == found
    assert {tag["text"] for tag in told} == {*parse_tags(*shown)} == {"red", "old one"}
