"""A Save does not undo in silence what the assistant has changed behind the form."""

from types import SimpleNamespace

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.forms import CharField, ModelForm
from django.test import AsyncClient, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.staleness import rows_since
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.registry import registry
from ai_assistant.safety.policy.sensitive import HIDDEN
from ai_assistant.testing import answer_interrupt, call, run_assistant
from ai_assistant.web.save_guard import page
from ai_assistant.web.save_guard.conflicts import _stored_text, conflicts_of
from ai_assistant.web.save_guard.digest import digest_forms, read_digest
from tests.gallery.models import Artist, Painting
from tests.tools.data.writing import make_stock
from tests.warehouse.models import Part, Product, Remark, Supplier
from tests.web.markup import all_with, one_with
from tests.web.tabs import Tab, decide, fields_of


class RemarkForm(ModelForm):
    """Has a field more than its model."""

    remark = CharField(required=False)

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        first = self.instance.remark_set.first()
        self.initial["remark"] = first.text if first else ""


class RemarkedAdmin(admin.ModelAdmin):
    form = RemarkForm
    fields = ("name", "remark")


class PaintingAdmin(admin.ModelAdmin):
    fields = ("title", "artist", "technique")


def conflicts(user, model_admin, obj, rows, posted):
    """Open the form of `obj`; return what is asked when a run has changed `rows`."""
    request = RequestFactory().get("/")
    request.user = user
    opened = model_admin.get_form(request, obj, change=True)(instance=obj)
    post = RequestFactory().post(
        "/", {NAME: digest_forms(request, [opened], key=str(obj.pk))}
    )
    post.user = user

    def after(**values):
        with transaction.atomic(), recording() as recorder:
            rows.update(**values)
        kept = [
            RowChange(
                change_set=ChangeSet(created_at=timezone.now(), user=user),
                model=row.label,
                object_id=row.object_id,
                before=row.before,
                after=row.after,
                fields=row.fields,
            )
            for row in recorder.rows
        ]
        fresh = type(obj).objects.get(pk=obj.pk)
        form = model_admin.get_form(post, fresh, change=True)(posted, instance=fresh)
        return {one.name for one in conflicts_of([form], kept, read_digest(post))}

    return after


pytestmark = [pytest.mark.django_db, pytest.mark.row("K01")]

NAME = "_aia_opened"
ASKED = 409


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def stock(db) -> SimpleNamespace:
    return make_stock()


@pytest.fixture
def site(client, boss, stock):
    client.force_login(boss)
    return client


@pytest.fixture
def path(stock):
    return f"/admin/warehouse/product/{stock.lamp.pk}/change/"


@pytest.fixture
def tab(site, path):
    return Tab(site, path, "product_form")


@pytest.fixture
def assistant(boss, stock, path):
    """Let the assistant change the lamp, approved by Ada."""

    def change(obj=None, *, inlines=None, **values):
        arguments = {
            "model": "warehouse.product",
            "id": str((obj or stock.lamp).pk),
            "values": values,
        }
        if inlines:
            arguments["inlines"] = inlines
        asked = call("change_object", arguments)
        played = run_assistant(boss, path, "Change it.", replies=[[asked], "Done."])
        if played.state == "waiting_approval":
            played = answer_interrupt(played, "approve")
        assert played.state == "succeeded", played.calls
        assert [one.status for one in played.calls] == ["complete"], played.calls

    return change


def lamp():
    return Product.objects.get(sku="L-1")


def asked_fields(answer):
    found = all_with(answer.content.decode(), type="radio", value="take")
    return {one["name"].removeprefix("_aia_choice-"): "checked" in one for one in found}


class TestAsks:
    def test_untouched_field_that_the_assistant_has_changed(self, tab, assistant):
        assistant(name="Lantern")
        tab.put("note", "written by Ada")

        answer = tab.save()

        assert answer.status_code == ASKED
        assert asked_fields(answer) == {"name": True}
        page = answer.content.decode()
        assert "Lantern" in page
        assert "Lamp" in page
        assert lamp().name == "Lantern"

    def test_the_assistants_value_is_taken(self, site, tab, assistant, path):
        assistant(name="Lantern")
        tab.put("note", "written by Ada")

        answer = decide(site, path, tab.save())

        assert answer.status_code == 302
        assert (lamp().name, lamp().note) == ("Lantern", "written by Ada")

    def test_the_persons_value_is_kept(self, site, tab, assistant, path):
        assistant(name="Lantern")
        tab.put("name", "Candle")

        asked = tab.save()
        assert asked_fields(asked) == {"name": False}
        answer = decide(site, path, asked)

        assert answer.status_code == 302
        assert lamp().name == "Candle"

    def test_each_field_by_itself(self, site, tab, assistant, path):
        assistant(name="Lantern", price="99.00")

        asked = tab.save()
        choices = {"name": "keep", "price": "take"}
        decide(site, path, asked, choices=choices)

        assert (lamp().name, str(lamp().price)) == ("Lamp", "99.00")

    def test_again_after_another_change(self, site, tab, assistant, path):
        assistant(name="Lantern")
        asked = tab.save()
        assistant(name="Torch")

        again = decide(site, path, asked, choices={"name": "keep"})

        assert again.status_code == ASKED
        assert "Torch" in again.content.decode()
        assert decide(site, path, again, choices={"name": "keep"}).status_code == 302
        assert lamp().name == "Lamp"

    def test_what_was_pressed_is_kept(self, site, tab, assistant, path):
        assistant(name="Lantern")

        answer = decide(site, path, tab.save("_continue"))

        assert answer["Location"].endswith(path)

    @pytest.mark.parametrize(
        "given",
        [
            {"status": "sold"},
            {"price": "1.00"},
            {"weight": None},
            {"made_on": "2026-02-03"},
            {"sold_at": "2026-02-03T10:00:00Z"},
            {"lasts": "02:00:00"},
            {"is_fragile": False},
            {"approved": True},
            {"data": {"b": 1}},
            {"note": "one\ntwo"},
            {"backup": None},
        ],
    )
    def test_every_kind_of_field(self, site, tab, assistant, path, given):
        before = Product.objects.values().get(sku="L-1")
        assistant(**given)
        changed = Product.objects.values().get(sku="L-1")
        assert changed != before
        (name,) = given

        asked = tab.save()
        assert asked_fields(asked) == {name: True}
        assert decide(site, path, asked).status_code == 302

        after = Product.objects.values().get(sku="L-1")
        changed.pop("updated_at")
        assert {key: after[key] for key in changed} == changed | {
            "seen_at": after["seen_at"],
            "sold_at": after["sold_at"],
            "note": after["note"],
        }

    def test_links_made_and_removed(self, site, tab, assistant, path, stock):
        green, heavy, old = stock.marks
        assistant(marks=[heavy.pk, old.pk])

        asked = tab.save()
        assert asked_fields(asked) == {"marks": True}
        page = asked.content.decode()
        assert "heavy, old" in page
        assert "green, heavy" in page
        decide(site, path, asked)

        assert set(lamp().marks.all()) == {heavy, old}

    def test_link_that_would_be_removed_again(self, tab, assistant, stock):
        green, heavy, old = stock.marks
        assistant(marks=[green.pk, heavy.pk, old.pk])
        tab.put("marks", str(green.pk))

        assert asked_fields(tab.save()) == {"marks": False}

    def test_row_of_an_inline(self, site, tab, assistant, path, stock):
        assistant(inlines={"parts": [{"id": stock.part.pk, "count": 8}]})

        asked = tab.save()
        assert asked_fields(asked) == {"parts-0-count": True}
        assert "Count (part “P-1”)" in asked.content.decode()
        decide(site, path, asked)

        assert Part.objects.get().count == 8

    def test_field_of_the_form_that_is_kept_in_another_table(self, boss, stock):
        """As translations are."""
        remarks = Remark.objects.filter(product=stock.lamp)
        Remark.objects.create(product=stock.lamp, text="old")
        lamp_admin = RemarkedAdmin(Product, admin.site)

        found = conflicts(
            boss, lamp_admin, stock.lamp, remarks, {"name": "Lamp", "remark": "old"}
        )
        assert found(text="new") == {"remark"}

    def test_object_of_two_tables(self, boss):
        artist = Artist.objects.create(name="Ada")
        sea = Painting.objects.create(title="Sea", artist=artist)
        rows = Painting.objects.filter(pk=sea.pk)
        posted = {"title": "Sea", "technique": "oil", "artist": artist.pk}

        found = conflicts(boss, PaintingAdmin(Painting, admin.site), sea, rows, posted)

        assert found(title="Shore", technique="ink") == {"title", "technique"}

    def test_row_in_a_list(self, site, assistant, stock, settings):
        model_admin = admin.site.get_model_admin(Product)
        listing = Tab(site, "/admin/warehouse/product/", "changelist-form")
        assert NAME not in listing.fields
        model_admin.list_editable = ("status",)
        try:
            listing.load()
            assistant(status="sold")
            asked = listing.save()
            (name,) = asked_fields(asked)
            assert name.endswith("-status")
            answer = decide(site, listing.path, asked)
        finally:
            model_admin.list_editable = ()

        assert answer.status_code == 302
        assert lamp().status == "sold"

    def test_file_is_chosen_again(self, site, tab, assistant, path, media):
        assistant(name="Lantern")

        asked = tab.save(cover=SimpleUploadedFile("a.txt", b"mine"))
        again = one_with(asked.content.decode(), type="file")
        assert (again["name"], "required" in again) == ("cover", True)
        decide(site, path, asked, cover=SimpleUploadedFile("a.txt", b"mine"))

        assert lamp().cover.read() == b"mine"
        lamp().cover.close()

    def test_asks_in_a_popup(self, site, assistant, path):
        popup = f"{path}?_to_field=code&_popup=1"
        tab = Tab(site, popup.replace("code", "id"), "product_form")
        assistant(name="Lantern")

        asked = tab.save()

        assert asked_fields(asked) == {"name": True}
        answer = decide(site, tab.path, asked)
        assert b"data-popup-response" in answer.content
        assert lamp().name == "Lantern"

    def test_asks_after_an_error_in_the_form(self, site, tab, assistant, path):
        tab.put("price", "much")
        wrong = tab.save()
        assert wrong.status_code == 200
        assistant(name="Lantern")
        fields = fields_of(wrong.content.decode(), "product_form")
        fields["price"] = ["3"]

        asked = site.post(path, {**fields, "_save": "Save"})

        assert asked_fields(asked) == {"name": True}

    def test_who_may_not_see_the_assistant(self, client, assistant, path):
        from django.contrib.auth.models import Permission

        bo = get_user_model().objects.create_user("bo", is_staff=True)
        bo.user_permissions.set(Permission.objects.filter(codename="change_product"))
        client.force_login(bo)
        tab = Tab(client, path, "product_form")
        assistant(name="Lantern")

        assert asked_fields(tab.save()) == {"name": True}


@pytest.fixture
def media(settings, tmp_path):
    settings.MEDIA_ROOT = str(tmp_path)


class TestDoesNotAsk:
    def test_same_value(self, tab, assistant):
        assistant(name="Lantern")
        tab.put("name", "Lantern")

        assert tab.save().status_code == 302

    def test_form_that_was_opened_afterwards(self, tab, assistant):
        assistant(name="Lantern", note="one\ntwo", is_fragile=False, weight=None)
        tab.load()
        tab.put("name", "Candle")
        tab.put("note", "three")

        assert tab.save().status_code == 302
        assert lamp().name == "Candle"

    def test_change_of_another_person(self, tab):
        Product.objects.update(name="Lantern")

        assert tab.save().status_code == 302
        assert lamp().name == "Lamp"

    def test_change_that_another_person_has_written_over(self, tab, assistant):
        assistant(name="Lantern")
        Product.objects.update(name="Candle")

        assert tab.save().status_code == 302

    def test_change_that_was_taken_back(self, tab, assistant):
        assistant(name="Lantern")
        assistant(name="Lamp")
        tab.put("name", "Candle")

        assert tab.save().status_code == 302
        assert lamp().name == "Candle"

    def test_field_that_the_person_alone_has_changed(self, tab, assistant):
        assistant(name="Lantern")
        tab.put("name", "Lantern")
        tab.put("price", "3")

        assert tab.save().status_code == 302

    def test_change_of_another_object(self, tab, assistant, stock):
        assistant(stock.chair, name="Stool")

        assert tab.save().status_code == 302

    def test_new_object_made_of_the_form(self, tab, assistant):
        assistant(name="Lantern")
        tab.put("sku", "L-2")
        model_admin = admin.site.get_model_admin(Product)
        model_admin.save_as = True
        try:
            answer = tab.save("_saveasnew")
        finally:
            model_admin.save_as = False

        assert answer.status_code != ASKED

    def test_object_that_is_gone(self, site, path, assistant):
        group = Group.objects.create(name="Editors")
        tab = Tab(site, f"/admin/auth/group/{group.pk}/change/", "group_form")
        group.delete()

        assert tab.save().status_code == 302

    @pytest.mark.parametrize("token", ["", "x", "1:2:3:4", "é" * 9])
    def test_does_not_ask_without_a_good_digest(self, tab, assistant, token):
        assistant(name="Lantern")
        tab.put(NAME, token)

        assert tab.save().status_code == 302

    def test_digest_of_another_page(self, site, tab, assistant, stock):
        other = f"/admin/warehouse/product/{stock.chair.pk}/change/"
        tab.put(NAME, *Tab(site, other, "product_form").fields[NAME])
        assistant(name="Lantern")

        assert tab.save().status_code == 302


class TestDigest:
    @pytest.fixture(autouse=True)
    def _modules(self):
        with registry.restored():
            yield

    def test_digest_costs_no_query(self, site, path, settings):
        registry._remove("module", "designer")  # its locks do
        site.get(path)
        with CaptureQueriesContext(
            connection,
        ) as with_it:
            site.get(path)
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}
        with CaptureQueriesContext(connection) as without:
            site.get(path)

        panel = [one for one in with_it if "ai_assistant" in one["sql"]]
        assert len(with_it) - len(panel) == len(without)

    def test_save_costs_one_query(self, tab):
        with CaptureQueriesContext(connection) as queries:
            tab.save()

        asked = [one for one in queries if "ai_assistant_rowchange" in one["sql"]]
        assert len(asked) == 1

    def test_save_reads_no_change_of_other_objects(self, tab, boss, stock, monkeypatch):
        change_set = ChangeSet.objects.create(user=boss)
        others = {
            "warehouse.part": {"product_id": stock.lamp.pk + 1},
            "warehouse.remark": {"product_id": stock.lamp.pk + 1},
            "warehouse.product_marks": {"product_id": stock.lamp.pk + 1},
        }
        for number, (model, image) in enumerate(others.items()):
            RowChange.objects.create(
                change_set=change_set,
                order=number,
                model=model,
                object_id="99",
                after=image,
            )
        read = []
        monkeypatch.setattr(
            page, "rows_since", lambda *a, **k: read.append(rows_since(*a, **k))
        )

        assert tab.save().status_code == 302
        assert read == [[]]

    def test_digest_is_small_and_plain_text_is_not_in_it(self, tab):
        (token,) = tab.fields[NAME]

        assert len(token) < 300
        for value in ("Lamp", "lamp", "12.50", "canary"):
            assert value not in token

    def test_digest_is_another_one_for_another_user(self, site, tab, assistant, path):
        other = get_user_model().objects.create_superuser("bo", password="x")
        site.force_login(other)
        assistant(name="Lantern")

        assert tab.save().status_code == 302  # no digest of his

    def test_key_of_yesterday(self, tab, assistant, settings):
        old = settings.SECRET_KEY
        assistant(name="Lantern")
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, [old]

        assert asked_fields(tab.save()) == {"name": True}

    def test_page_that_only_shows(self, client, path, stock):
        from django.contrib.auth.models import Permission

        bo = get_user_model().objects.create_user("bo", is_staff=True)
        bo.user_permissions.set(Permission.objects.filter(codename="view_product"))
        client.force_login(bo)

        assert client.get(path).status_code == 200


OWN = """{% extends "admin/base_site.html" %}{% block content %}BEFORE
<!-- <form method="post"> --><script>"<form method='post'>"</script>
<form method="post" ATTRIBUTES>{% csrf_token %}{{ adminform.form.as_div }}
{% for inline in inline_admin_formsets %}{{ inline.formset }}{% endfor %}</form>
{% endblock %}"""
SIDE = """<form method="post" ATTRIBUTES>{% csrf_token %}<input name="FIELD"></form>"""


@pytest.fixture
def own_page(site, path, settings, tmp_path):
    """Let a template of the site draw the form; return a way to open its page."""
    model_admin = admin.site.get_model_admin(Product)
    (engine,) = settings.TEMPLATES
    settings.TEMPLATES = [{**engine, "DIRS": [*engine["DIRS"], tmp_path]}]
    name = f"{tmp_path.name}.html"  # once is said for each name

    def page(attributes="", before=""):
        drawn = OWN.replace("BEFORE", before).replace("ATTRIBUTES", attributes)
        (tmp_path / name).write_text(drawn)
        model_admin.change_form_template = name
        return Tab(site, path, None)

    yield page
    model_admin.change_form_template = None


def side(attributes="", field="name"):
    return SIDE.replace("ATTRIBUTES", attributes).replace("FIELD", field)


class TestTemplateOfTheSite:
    @pytest.mark.parametrize("attributes", ["", "action='?a=1'", "id=x action='.'"])
    def test_form_without_the_id(self, own_page, assistant, attributes, caplog):
        tab = own_page(attributes)
        assistant(name="Lantern")

        assert asked_fields(tab.save()) == {"name": True}
        assert "has no <form" not in caplog.text

    @pytest.mark.parametrize(
        "before",
        [
            side("action='/elsewhere/'"),
            side("action='https://other.example/'"),
            side(field="comment"),
            side().replace("post", "get"),
            side().replace("{% csrf_token %}", ""),
        ],
    )
    def test_beside_a_form_for_something_else(self, own_page, before):
        html = own_page(before=before).html

        assert html.count(NAME) == 1
        own = html.index("</script>", html.index("<!-- <form"))
        assert html.index(NAME) > own

    @pytest.mark.parametrize(
        ("attributes", "before"),
        [("action='/elsewhere/'", ""), ("", side()), ("action='//x.example'", "")],
    )
    def test_template_of_the_site_says_once_that_no_form_is_found(
        self, own_page, caplog, attributes, before, tmp_path
    ):
        tab = own_page(attributes, before)
        tab.load()

        assert NAME not in tab.html
        (said,) = [one for one in caplog.messages if "has no <form" in one]
        assert f"'{tmp_path.name}.html'" in said
        assert "warehouse.product" in said
        assert 'id="product_form"' in said

    def test_template_of_the_site_says_nothing_of_a_page_that_only_shows(
        self, own_page, client, caplog
    ):
        from django.contrib.auth.models import Permission

        bo = get_user_model().objects.create_user("bo", is_staff=True)
        bo.user_permissions.set(Permission.objects.filter(codename="view_product"))
        client.force_login(bo)
        tab = own_page("action='/elsewhere/'")

        assert NAME not in tab.html
        assert "has no <form" not in caplog.text


@pytest.mark.django_db(transaction=True)
async def test_under_asgi():
    from asgiref.sync import sync_to_async

    user = await get_user_model().objects.acreate_superuser("ada", password="x")
    group = await Group.objects.acreate(name="Editors")
    client = AsyncClient()
    await client.aforce_login(user)
    path = f"/admin/auth/group/{group.pk}/change/"
    page = await client.get(path)
    fields = fields_of(page.content.decode(), "group_form")

    def change():
        asked = call(
            "change_object",
            {"model": "auth.group", "id": str(group.pk), "values": {"name": "Authors"}},
        )
        played = run_assistant(user, path, "Change it.", replies=[[asked], "Done."])
        answer_interrupt(played, "approve")

    await sync_to_async(change)()
    answer = await client.post(path, {**fields, "_save": "Save"})

    assert answer.status_code == ASKED


def test_names_no_object_that_the_form_does_not_offer(boss, stock):
    closed = Supplier.objects.create(name="Closed Ltd", code="c", is_active=False)
    request = RequestFactory().get("/")
    request.user = boss
    form_class = admin.site.get_model_admin(Product).get_form(request, stock.lamp)

    assert _stored_text(form_class(instance=stock.lamp), "supplier") == str(
        stock.lamp.supplier
    )
    stock.lamp.supplier = closed
    assert _stored_text(form_class(instance=stock.lamp), "supplier") == HIDDEN
