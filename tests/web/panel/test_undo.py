import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.db.models.signals import pre_save

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store
from ai_assistant.changes.undo import groups
from ai_assistant.models.change import ChangeSet
from tests.warehouse.models import Mark
from tests.web.conftest import asked_to_approve

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

    def test_as_a_card(self, browser, change):
        headers = {"HX-Request": "true"}
        page = browser("ada").get(PATH, {"change": change.pk}, headers=headers)

        assert page.content.decode().startswith('<section id="aia-undo"')

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

        assert "2 changes undone" in html
        assert "refused" in html
        assert "new one" in html
        made = ChangeSet.objects.get(kind="undo")
        for url in (f"{PATH}?run={change.run_id}", f"{PATH}?change={made.pk}"):
            assert url in html
            assert browser("ada").get(url).status_code == 200
        assert names() == ["new one", "three", "two"]

    def test_report_takes_the_place_of_the_plan(self, posted, change):
        html = posted(**{"HX-Request": "true"})

        assert html.startswith('<section id="aia-undo"')
        assert f'id="r-{change.run_id}-changes"' in html

    def test_progress_and_stop(self, posted, browser, change):
        posted()
        ada = browser("ada")

        said = ada.get(PATH, {"run": change.run_id, "progress": 1}).content.decode()
        ada.post(PATH, {"run": change.run_id, "do": "stop"})

        assert "2 of 3 undone" in said
        assert ChangeSet.objects.get(kind="undo").stop_requested

    @pytest.mark.parametrize("name", ["bob", "viewer"])
    def test_others_do_not_stop_it(self, posted, browser, change, name):
        posted()

        browser(name).post(PATH, {"run": change.run_id, "do": "stop"})

        assert not ChangeSet.objects.get(kind="undo").stop_requested


class TestBanner:
    def test_banner_offers_it_until_it_is_kept(self, browser, change):
        ada = browser("ada")
        page = {"conversation": change.run.conversation_id}
        assert "data-aia-undo-all" in ada.get("/assistant/", page).content.decode()

        ada.post(PATH, {"run": change.run_id, "do": "keep"})

        assert "data-aia-undo-all" not in ada.get("/assistant/", page).content.decode()
