"""The history page of an object has what the assistant changed, with its undo."""

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store
from ai_assistant.web import object_history
from tests.warehouse.models import Mark
from tests.web.conftest import asked_to_approve

SECTION = 'id="aia-object-history"'


@pytest.fixture
def marks(people):
    """Two marks that the assistant has renamed for Ada in one call."""
    perms = Permission.objects.filter(codename__in=["view_mark", "change_mark"])
    people["ada"].user_permissions.add(*perms)
    people["bob"].user_permissions.add(*perms)
    marks = [Mark.objects.create(name=name) for name in ("one", "two")]
    run = asked_to_approve(people["ada"]).run
    run.state = "succeeded"
    run.save(update_fields=["state"])
    with transaction.atomic():
        with recording() as recorder:
            for mark in marks:
                mark.name = f"new {mark.name}"
                mark.save()
        store(recorder, run, run.calls.get(), people["ada"])
    yield marks
    Mark.objects.all().delete()


@pytest.fixture
def history(browser, marks):
    def read(name, mark=None):
        path = reverse("admin:warehouse_mark_history", args=[(mark or marks[0]).pk])
        return browser(name).get(path).content.decode()

    return read


def link_of(page):
    return page.partition(SECTION)[2].partition('href="')[2].partition('"')[0]


class TestHistoryPage:
    @pytest.mark.row("R04")
    def test_change_leads_to_its_plan_with_this_object_ticked(
        self, history, browser, marks
    ):
        page = history("ada")
        assert page.index(SECTION) < page.index('id="change-history"')

        plan = browser("ada").get(link_of(page).replace("&amp;", "&")).content.decode()

        assert "Undo 2 changes" in plan
        ticked = [
            part.partition(">")[0]
            for part in plan.split('type="checkbox"')[1:]
            if "checked" in part.partition(">")[0]
        ]
        assert len(ticked) == 1
        assert f'value="warehouse.mark:{marks[0].pk}"' in ticked[0]

    def test_what_is_undone_is_said(self, history, browser, marks):
        ada, page = browser("ada"), history("ada")
        url = link_of(page).replace("&amp;", "&")
        plan = ada.get(url).content.decode()
        fields = {
            name: plan.partition(f'name="{name}" value="')[2].partition('"')[0]
            for name in ("digest", "change")
        }
        key = f"warehouse.mark:{marks[0].pk}"
        ada.post("/assistant/undo/", {**fields, "rows": [key]})

        section = history("ada").partition(SECTION)[2].partition("</table>")[0]

        assert "Undone" in section
        assert "href" not in section
        assert "href" in history("ada", marks[1]).partition(SECTION)[2][:1000]

    def test_changes_of_others_need_the_permission(self, history, people):
        assert SECTION not in history("bob")

        perm = Permission.objects.get(codename="undo_changes")
        people["bob"].user_permissions.add(perm)

        section = history("bob").partition(SECTION)[2]
        assert "ada" in section.partition("</table>")[0]

    def test_object_that_it_has_not_changed(self, history, marks):
        assert SECTION not in history("ada", Mark.objects.create(name="other"))

    @pytest.mark.parametrize(
        ("html", "drawn"),
        [
            (b'<main><div id="content-main"><p>x</p></div></main>', True),
            (b"<main><p>Our own page</p></main>", False),
        ],
    )
    def test_page_of_the_site(self, marks, people, rf, html, drawn):
        from django.urls import resolve

        path = reverse("admin:warehouse_mark_history", args=[marks[0].pk])
        request = rf.get(path)
        request.user, request.resolver_match = people["ada"], resolve(path)

        content = object_history.with_changes(request, HttpResponse(html))

        assert (content is not None) == drawn
