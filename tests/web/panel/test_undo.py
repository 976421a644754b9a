import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import transaction
from django.db.models.signals import pre_save

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store, store_as
from ai_assistant.changes.undo import groups
from ai_assistant.changes.undo.values import UndoTarget
from ai_assistant.engine.undo import stop_undo
from ai_assistant.models.change import ChangeSet, UndoStop
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from tests.warehouse.models import Mark
from tests.web.conftest import ask, asked_to_approve

PATH = "/assistant/undo/"


@pytest.fixture
def change(people):
    """Three marks that the assistant has renamed for Ada."""
    perms = Permission.objects.filter(codename__in=["view_mark", "change_mark"])
    people["ada"].user_permissions.add(*perms)
    marks = [Mark.objects.create(name=name) for name in ("one", "three", "two")]
    call = asked_to_approve(people["ada"]).call
    call.run.state = "succeeded"
    call.run.save(update_fields=["state"])
    with transaction.atomic():
        with recording() as recorder:
            for mark in marks:
                mark.name = f"new {mark.name}"
                mark.save()
        made = store(recorder, call.run, call, people["ada"])
    yield made
    Mark.objects.all().delete()


def names():
    return sorted(Mark.objects.values_list("name", flat=True))


def digest_of(page):
    return page.content.decode().partition('name="digest" value="')[2].partition('"')[0]


class TestPlan:
    def test_on_a_page_of_its_own(self, browser, change):
        page = browser("ada").get(PATH, {"run": change.run_id})

        assert page.status_code == 200
        assert "Undo 3 changes" in page.content.decode()
        assert names() == ["new one", "new three", "new two"]

    def test_page_has_the_colours_of_the_theme(self, browser, change, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PANEL": {"THEME": "jazzmin"}}
        page = browser("ada").get(PATH, {"run": change.run_id}).content.decode()
        sheets = re.findall(r"ai_assistant/([\w/]+\.css)", page)

        assert sheets == ["themes/jazzmin.css", "pages.css"]

    def test_as_a_card(self, browser, change):
        headers = {"HX-Request": "true"}
        page = browser("ada").get(PATH, {"change": change.pk}, headers=headers)

        assert page.content.decode().startswith('<section id="aia-undo-plan"')

    def test_of_another_user(self, browser, change):
        assert browser("bob").get(PATH, {"run": change.run_id}).status_code == 404

    def test_of_nothing(self, browser):
        assert browser("ada").get(PATH).status_code == 404

    def test_needs_the_permission_to_use_the_assistant(self, browser, change):
        page = browser("viewer").get(PATH, {"run": change.run_id})

        assert page.status_code == 403


class TestUndo:
    def test_all_and_back_to_the_page(self, browser, change):
        ada = browser("ada")
        keys = [f"warehouse.mark:{mark.pk}" for mark in Mark.objects.all()]
        digest = digest_of(ada.get(PATH, {"run": change.run_id}))

        done = ada.post(PATH, {"run": change.run_id, "digest": digest, "rows": keys})

        assert done.status_code == 303
        assert names() == ["one", "three", "two"]

    def test_rest_goes_along_but_for_what_was_unticked(self, browser, change):
        ada = browser("ada")
        digest = digest_of(ada.get(PATH, {"run": change.run_id}))
        kept = f"warehouse.mark:{Mark.objects.get(name='new two').pk}"
        form = {"run": change.run_id, "digest": digest, "rest": "1", "listed": kept}

        ada.post(PATH, form)

        assert names() == ["new two", "one", "three"]

    def test_moved_shows_the_plan_again(self, browser, change):
        form = {"run": change.run_id, "digest": "of old", "rows": "x"}

        page = browser("ada").post(PATH, form)

        assert page.status_code == 409
        assert "Something has changed" in page.content.decode()
        assert names() == ["new one", "new three", "new two"]

    def test_answer_draws_the_list_and_the_banner_anew(self, browser, change):
        ada, headers = browser("ada"), {"HX-Request": "true"}
        digest = digest_of(ada.get(PATH, {"run": change.run_id}))
        form = {"run": change.run_id, "digest": digest, "rest": "1"}

        html = ada.post(PATH, form, headers=headers).content.decode()

        assert f'id="r-{change.run_id}-changes"' in html
        assert "data-aia-redo" in html
        assert "data-aia-undo-all" not in html
        assert "3 changes undone" in html

    def test_answer_takes_its_own_plan_away_and_no_other(self, browser, change):
        ada, headers = browser("ada"), {"HX-Request": "true"}
        page = ada.get(PATH, {"run": change.run_id}, headers=headers)
        form = {"run": change.run_id, "digest": digest_of(page), "rest": "1"}

        html = ada.post(PATH, form, headers=headers).content.decode()

        own = f"run-{change.run_id}"
        assert f'data-of="{own}"' in page.content.decode()
        assert f"""oob="delete:#aia-undo-plan[data-of='{own}']\"""" in html

    def test_get_changes_nothing(self, browser, change):
        browser("ada").get(PATH, {"run": change.run_id, "do": "apply"})

        assert names() == ["new one", "new three", "new two"]


class TestManyRows:
    """An undo in pieces, of two rows each."""

    @pytest.fixture
    def posted(self, browser, change, monkeypatch):
        """Undo all, of which the site refuses to restore "one", the last."""
        monkeypatch.setattr(groups, "PIECE_ROWS", 2)

        def refuse(instance, **_):
            if instance.name == "one":
                raise RuntimeError

        def post(**headers):
            ada = browser("ada")
            digest = digest_of(ada.get(PATH, {"run": change.run_id}))
            form = {"run": change.run_id, "digest": digest, "rest": "1"}
            pre_save.connect(refuse, sender=Mark)
            try:
                return ada.post(PATH, form, headers=headers).content.decode()
            finally:
                pre_save.disconnect(refuse, sender=Mark)

        return post

    def test_report_offers_to_go_on_and_to_take_back(self, posted, browser, change):
        html = posted()

        assert "2 of 3 changes undone" in html
        assert "refused" in html
        assert "new one" in html
        made = ChangeSet.objects.get(kind="undo")
        for url in (f"{PATH}?run={change.run_id}", f"{PATH}?change={made.pk}"):
            assert url in html
            assert browser("ada").get(url).status_code == 200
        assert names() == ["new one", "three", "two"]

    def test_go_on_shows_the_rest_and_does_what_it_showed(
        self, posted, browser, change
    ):
        posted()
        ada, form = browser("ada"), {"run": change.run_id, "rest": "1"}
        rest = ada.get(PATH, {"run": change.run_id})
        assert "new one" in rest.content.decode()
        form["digest"] = digest_of(rest)
        Mark.objects.filter(name="new one").update(name="by hand")

        moved = ada.post(PATH, form)

        assert (moved.status_code, names()) == (409, ["by hand", "three", "two"])
        Mark.objects.filter(name="by hand").update(name="new one")
        ada.post(PATH, form)
        assert names() == ["one", "three", "two"]

    def test_report_takes_the_place_of_the_plan(self, posted, change):
        html = posted(**{"HX-Request": "true"})

        assert html.startswith('<section id="aia-undo-plan"')
        assert f'id="r-{change.run_id}-changes"' in html

    def test_progress_and_stop(self, posted, browser, change):
        posted()
        ada = browser("ada")

        said = ada.get(PATH, {"run": change.run_id, "progress": 1}).content.decode()
        form = {"run": change.run_id, "do": "stop"}
        stopping = ada.post(PATH, form, headers={"HX-Request": "true"}).content.decode()

        assert "2 of 3 undone" in said
        assert 'value="stop"' in said
        assert "Stopping" in stopping
        assert 'value="stop"' not in stopping
        assert UndoStop.objects.get().change_set == change

    @pytest.mark.parametrize("name", ["bob", "viewer"])
    def test_others_do_not_stop_it(self, posted, browser, change, name):
        posted()

        browser(name).post(PATH, {"run": change.run_id, "do": "stop"})

        assert not UndoStop.objects.exists()

    def test_stop_before_the_first_piece(self, posted, browser, change, monkeypatch):
        """While the site is asked what the person may change."""
        mark_admin = admin.site.get_model_admin(Mark)
        may_change = mark_admin.has_change_permission

        def stop_and_ask(*arguments):
            stop_undo(change.user_id, UndoTarget(kind="run", id=change.run_id))
            return may_change(*arguments)

        monkeypatch.setattr(mark_admin, "has_change_permission", stop_and_ask)

        html = posted()

        assert names() == ["new one", "new three", "new two"]
        assert "0 of 3 changes undone" in html
        assert "It was stopped." in html
        assert f'href="{PATH}?run={change.run_id}" data-aia-undo-on' in html
        assert "data-aia-redo" not in html


class TestBanner:
    @pytest.mark.row("N04")
    def test_banner_offers_it_until_it_is_kept(self, browser, change):
        ada = browser("ada")
        page = {"conversation": change.run.conversation_id}
        assert "data-aia-undo-all" in ada.get("/assistant/", page).content.decode()

        ada.post(PATH, {"run": change.run_id, "do": "keep"})

        assert "data-aia-undo-all" not in ada.get("/assistant/", page).content.decode()

    def test_press_undoes_what_nobody_has_changed_since(self, browser, change):
        done = browser("ada").post(PATH, {"run": change.run_id, "do": "now"})

        assert done.status_code == 303
        assert names() == ["one", "three", "two"]

    def test_press_shows_the_plan_if_somebody_has(self, browser, change):
        Mark.objects.filter(name="new two").update(name="by hand")

        page = browser("ada").post(PATH, {"run": change.run_id, "do": "now"})

        assert 'name="digest"' in page.content.decode()
        assert names() == ["by hand", "new one", "new three"]


class TestGoBack:
    @pytest.fixture
    def later(self, change):
        """A message after the one that changed the marks."""
        first = change.run
        run = ask(first.user, "And now?", conversation=first.conversation_id)
        Run.objects.filter(pk=run.pk).update(state="succeeded")
        return Run.objects.get(pk=run.pk)

    @pytest.fixture
    def second(self, later):
        """The second message, whose answer has renamed a mark."""
        mark = Mark.objects.get(name="new one")
        with transaction.atomic():
            with recording() as recorder:
                mark.name = "newest one"
                mark.save()
            store_as(ChangeSet(run=later, user=later.user), recorder)
        return later

    def test_each_message_of_ones_own_offers_it(self, browser, second, change):
        page = browser("ada").get(
            "/assistant/", {"conversation": second.conversation_id}
        )

        html = page.content.decode()
        for run in (second, change.run):
            assert f'href="{PATH}?since={run.pk}"' in html

    def test_what_later_runs_changed_is_undone_and_the_branch_shown(
        self, browser, second, change
    ):
        ada = browser("ada")
        plan = ada.get(PATH, {"since": second.pk})
        assert "Go back to before this message" in plan.content.decode()
        form = {"since": second.pk, "digest": digest_of(plan)}
        keys = [f"warehouse.mark:{Mark.objects.get(name='newest one').pk}"]

        done = ada.post(PATH, {**form, "rows": keys})

        assert done.status_code == 303
        assert names() == ["new one", "new three", "new two"]
        conversation = Conversation.objects.get()
        assert conversation.shown_run_id == change.run_id
        page = ada.get("/assistant/", {"conversation": conversation.pk})
        assert "And now?" not in page.content.decode()
        assert "Show the later messages" in page.content.decode()
        ask(change.run.user, "Otherwise", conversation=conversation.pk)
        fresh = Run.objects.get(state="queued")
        assert fresh.after_id == change.run_id
        page = ada.get("/assistant/", {"conversation": conversation.pk})
        assert "Show the later messages" not in page.content.decode()
        assert "2 / 2" in page.content.decode()

    def test_all_since_the_first_message(self, browser, second, change):
        ada, headers = browser("ada"), {"HX-Request": "true"}
        plan = ada.get(PATH, {"since": change.run_id})
        form = {"since": change.run_id, "digest": digest_of(plan)}
        keys = [f"warehouse.mark:{mark.pk}" for mark in Mark.objects.all()]

        html = ada.post(PATH, {**form, "rows": keys}, headers=headers)

        assert names() == ["one", "three", "two"]
        assert "New conversation" in html.content.decode()

    def test_without_undoing_anything(self, browser, second, change):
        browser("ada").post(PATH, {"since": second.pk, "digest": "x"})

        assert names() == ["new three", "new two", "newest one"]
        assert Conversation.objects.get().shown_run_id == change.run_id

    def test_where_nothing_was_changed(self, browser, later, change):
        plan = browser("ada").get(PATH, {"since": later.pk})

        assert "data-aia-undo-apply" in plan.content.decode()

    def test_moved_goes_nowhere(self, browser, second):
        form = {"since": second.pk, "digest": "x", "rows": "warehouse.mark:1"}

        assert browser("ada").post(PATH, form).status_code == 409
        assert Conversation.objects.get().shown_run_id != second.after_id

    def test_while_an_answer_is_written(self, browser, second, change):
        Run.objects.filter(pk=second.pk).update(state="running")

        done = browser("ada").post(PATH, {"since": second.pk, "digest": "x"})

        assert done.status_code == 409
        assert names() == ["new three", "new two", "newest one"]

    def test_of_another_user(self, browser, second, people):
        perm = Permission.objects.get(codename="undo_changes")
        people["bob"].user_permissions.add(perm)
        bob = browser("bob")

        assert bob.get(PATH, {"since": second.pk}).status_code == 404
        assert bob.post(PATH, {"since": second.pk, "digest": "x"}).status_code == 404
