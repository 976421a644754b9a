"""Around a write stands a request as the page would have had it."""

import threading
from contextlib import contextmanager

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.http import HttpResponse
from django.test import Client

from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models import Run
from ai_assistant.models.row_cache import RowCache
from ai_assistant.safety.identity.session import kept_key
from ai_assistant.testing import run_assistant
from ai_assistant.tools.adapters.request import user_request
from ai_assistant.tools.adapters.site_request import KeptSession, through_site
from ai_assistant.tools.data.access.sites import are_enabled
from tests.second_factor import Verifying, verified_site  # noqa: F401 - a fixture
from tests.tools.data.reading import context_of
from tests.tools.data.writing import make_stock, use
from tests.warehouse.models import Part, Product, Supplier

MODEL = "warehouse.product"
HERE = "tests.tools.data.test_site_request"
local = threading.local()


class Remembering:
    """Keeps the request of its thread, as packages that record changes do."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        local.request = request
        response = self.get_response(request)
        del local.request
        return response


class Committing(Remembering):
    """Forgets the request after the commit, as django-easy-audit does."""

    def __call__(self, request):
        local.request = request
        response = self.get_response(request)
        transaction.on_commit(self.forget)
        return response

    @staticmethod
    def forget():
        if hasattr(local, "request"):
            del local.request


class Refusing:
    """Answers by itself: it is not on the list, and not called."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return HttpResponse("no", status=403)


@contextmanager
def labelled(request, run):
    local.label = (request.user.get_username(), run)
    yield
    del local.label


@pytest.fixture
def configured(settings):
    def configure(*middlewares, **data):
        names = [f"{one.__module__}.{one.__name__}" for one in middlewares]
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, *names, f"{HERE}.Refusing"]
        own = {"MIDDLEWARE": names, **data}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": own}

    return configure


@pytest.fixture
def recorded():
    """Return who has written which row, as a package that records changes sees it."""
    seen = []

    def note(sender, instance, **_kwargs):
        request = getattr(local, "request", None)
        name = request.user.get_username() if request else None
        seen.append((sender.__name__, name))

    for signal in (post_save, post_delete):
        for model in (Product, Part):
            signal.connect(note, sender=model, weak=False, dispatch_uid="recorded")
    yield seen
    for signal in (post_save, post_delete):
        for model in (Product, Part):
            signal.disconnect(sender=model, dispatch_uid="recorded")


class TestWhoWrites:
    def test_a_change_and_its_inlines(self, boss, stock, configured, recorded):
        configured(Remembering)

        use(
            "change_object",
            boss,
            model=MODEL,
            id=stock.lamp.pk,
            values={"note": "x"},
            inlines={"parts": [{"id": stock.part.pk, "DELETE": True}, {"code": "N"}]},
        )

        assert sorted(recorded) == [
            ("Part", "ada"),
            ("Part", "ada"),
            ("Product", "ada"),
        ]
        assert not hasattr(local, "request")

    @pytest.mark.parametrize("count", [1, 2])
    def test_a_deletion(self, boss, stock, configured, recorded, count):
        configured(Remembering)
        ids = [stock.chair.pk, stock.lamp.pk][:count]

        use("delete_objects", boss, model=MODEL, ids=ids)

        assert {name for _model, name in recorded} == {"ada"}

    def test_many_changes(self, boss, stock, configured, recorded):
        configured(Remembering)

        use(
            "change_objects",
            boss,
            model=MODEL,
            ids=[stock.lamp.pk, stock.chair.pk],
            values={"note": "x"},
        )

        assert recorded == [("Product", "ada")] * 2

    def test_an_action(self, boss, stock, configured, recorded):
        configured(Remembering)

        use(
            "run_admin_action",
            boss,
            model=MODEL,
            action="discount",
            ids=[stock.chair.pk],
        )

        assert recorded == [("Product", "ada")]

    def test_context_of_the_site(self, boss, stock, configured, monkeypatch):
        configured(REQUEST_CONTEXT=f"{HERE}.labelled")
        seen = []
        save = Product.save

        def saved(self, *args, **kwargs):
            seen.append(local.label)
            save(self, *args, **kwargs)

        monkeypatch.setattr(Product, "save", saved)

        use("change_object", boss, model=MODEL, id=stock.lamp.pk, values={"note": "x"})

        assert seen == [("ada", None)]

    def test_a_fault_leaves_nothing_behind(self, boss, configured):
        configured(Remembering)

        with pytest.raises(ZeroDivisionError):
            through_site(user_request(boss, "GET", "/"), lambda: 1 // 0)

        assert not hasattr(local, "request")


@pytest.fixture
def committed():
    """Return who was there after the commit of which row, as easyaudit sees it."""
    seen = []

    def note(sender, **_kwargs):
        def see():
            request = getattr(local, "request", None)
            name = request.user.get_username() if request else None
            seen.append((sender.__name__, name, getattr(local, "label", None)))

        transaction.on_commit(see)

    for signal in (post_save, post_delete):
        signal.connect(note, weak=False, dispatch_uid="committed")
    yield seen
    for signal in (post_save, post_delete):
        signal.disconnect(dispatch_uid="committed")


@pytest.mark.django_db(transaction=True)
class TestAfterTheCommit:
    @pytest.fixture(autouse=True)
    def _forgotten(self):
        yield
        Committing.forget()

    def change(self, user, stock):
        parts = [{"id": stock.part.pk, "DELETE": True}, {"code": "N"}]
        use(
            "change_object",
            user,
            model=MODEL,
            id=stock.lamp.pk,
            values={"note": "x"},
            inlines={"parts": parts},
        )

    def of_rows(self, committed):
        return sorted(one for one in committed if one[0] in ("Part", "Product"))

    @pytest.mark.parametrize("middleware", [Committing, Remembering])
    def test_a_change_and_its_inlines(
        self, boss, stock, configured, committed, middleware
    ):
        configured(middleware, REQUEST_CONTEXT=f"{HERE}.labelled")
        committed.clear()

        with transaction.atomic():
            self.change(boss, stock)
            assert committed == []

        who = ("ada", ("ada", None))
        assert self.of_rows(committed) == [
            ("Part", *who),
            ("Part", *who),
            ("Product", *who),
        ]
        assert not hasattr(local, "request")

    def test_each_of_many_objects(self, boss, stock, configured, committed):
        configured(Committing)
        ids = [stock.lamp.pk, stock.chair.pk]
        committed.clear()

        with transaction.atomic():
            use("change_objects", boss, model=MODEL, ids=ids, values={"note": "x"})
            use("delete_objects", boss, model=MODEL, ids=ids[1:])

        assert {one[:2] for one in self.of_rows(committed)} == {("Product", "ada")}
        assert not hasattr(local, "request")

    def test_nothing_is_left_of_what_was_rolled_back(
        self, boss, stock, configured, committed
    ):
        configured(Committing)
        committed.clear()

        with transaction.atomic():
            self.change(boss, stock)
            transaction.set_rollback(True)
        assert not hasattr(local, "request")
        stock.chair.save()

        assert committed == [("Product", None, None)]

    def test_rows_of_the_assistant_are_read_anew(self, boss, configured):
        configured(Committing)
        cached = RowCache(Supplier, Supplier.objects.count)
        request = user_request(boss, "GET", "/")

        with transaction.atomic():
            assert cached.get() == 0
            through_site(request, lambda: Supplier.objects.create(name="A"))
            assert cached.get() == 1
            transaction.set_rollback(True)

        assert cached.get() == 0


@pytest.mark.usefixtures("verified_site")
class TestSession:
    def started(self, user, **values):
        """Return a run whose session holds these values, and the session."""
        client = Client()
        client.force_login(user)
        session = client.session
        session.update(values)
        session.save()
        return session

    def run_of(self, user, session):
        played = run_assistant(user, "/admin/", "Hello", replies=["Hi"])
        run = Run.objects.get(pk=played.run.pk)
        run.session_sealed = kept_key(session)
        run.save()
        return run

    def context(self, user, run):
        context = context_of(user)
        context.run_id = run.pk
        return context

    @pytest.mark.parametrize(("device", "opens"), [("device", True), ("", False)])
    def test_site_opens_by_the_second_factor(self, boss, configured, device, opens):
        configured(Verifying)
        run = self.run_of(boss, self.started(boss, otp_device_id=device))

        assert are_enabled(self.context(boss, run)) is opens

    @pytest.mark.parametrize(("device", "opens"), [("device", True), ("", False)])
    def test_context_of_the_page(self, boss, configured, device, opens):
        configured(Verifying)
        product = make_stock().lamp
        run = self.run_of(boss, self.started(boss, otp_device_id=device))
        run.page_path = f"/admin/warehouse/product/{product.pk}/change/"

        items = {item.id: item for item in RunScope(run, boss).items}

        assert ("object" in items) is opens

    def test_not_after_the_session(self, boss, configured):
        configured(Verifying)
        session = self.started(boss, otp_device_id="device")
        run = self.run_of(boss, session)
        SessionStore(session.session_key).delete()

        assert not are_enabled(self.context(boss, run))

    def test_other_keys_are_not_there(self, boss):
        run = self.run_of(boss, self.started(boss, otp_device_id="device", cart="full"))
        kept = KeptSession(run.pk)

        assert dict(kept.items()) == {"otp_device_id": "device"}
        kept["cart"] = "empty"
        kept.save()
        assert KeptSession(run.pk).get("cart") is None
