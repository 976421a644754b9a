"""The rows of a list, where it is code of the site."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth import get_user_model
from django.test import RequestFactory
from django.utils import timezone

from ai_assistant.safety.policy.admin_pages import rows_of_changelist
from tests.warehouse.models import Product, Supplier

pytestmark = [pytest.mark.django_db, pytest.mark.row("T08")]

AT = datetime(2025, 1, 1, tzinfo=UTC)
HALF_A_MINUTE = timedelta(seconds=30)
WEEK = timedelta(days=7)


class Listed(ChangeList):
    """Lists what was sold until the moment `until`, and shows that until `seen`."""

    def until(self):
        return timezone.now()

    seen = until

    def get_queryset(self, request, *args, **kwargs):
        rows = super().get_queryset(request, *args, **kwargs)
        return rows.filter(sold_at__lte=self.until())

    def get_results(self, request):
        self.queryset = super().get_queryset(request).filter(sold_at__lte=self.seen())
        super().get_results(request)


@pytest.fixture
def sold():
    """Products that were sold a month ago and today, and one that will be."""
    acme = Supplier.objects.create(name="Acme", code="AC")
    now = timezone.now()
    days = {-30: "old", -29: "older", -28: "oldest", 0: "new", 1: "not yet"}
    for day, sku in days.items():
        at = now + timedelta(days=day)
        Product.objects.create(name=sku, sku=sku, supplier=acme, sold_at=at)
    Product.objects.create(name="at", sku="at", supplier=acme, sold_at=AT)


@pytest.fixture
def told(db):
    """Return the products that the list `listed` tells, of whose rows a page has two."""
    user = get_user_model().objects.create_superuser("ada", password="x")
    request = RequestFactory().get("/admin/warehouse/product/")
    request.user = user

    def tell(listed):
        class Admin(admin.ModelAdmin):
            list_per_page = 2

            def get_changelist(self, request, **kwargs):
                return listed

        rows = rows_of_changelist(Admin(Product, admin.site), request)
        return {row.sku for row in rows}

    return tell


def test_limit_of_now_is_told_beyond_the_first_page(told, sold):
    assert told(Listed) == {"old", "older", "oldest", "new", "at"}


def test_moment_of_now_in_a_query_within(told, sold):
    class Within(Listed):
        def get_queryset(self, request, *args, **kwargs):
            rows = ChangeList.get_queryset(self, request, *args, **kwargs)
            some = Product.objects.filter(sold_at__lte=timezone.now() - WEEK)
            return rows.filter(pk__in=some)

        get_results = ChangeList.get_results

    assert told(Within) == {"old", "older", "oldest", "at"}


def test_other_limit_of_now_on_the_page_holds(told, sold):
    class Older(Listed):
        def seen(self):
            return timezone.now() - WEEK

    assert len(told(Older)) == 2
    assert "new" not in told(Older)


def test_other_moment_on_the_page_holds(told, sold):
    class Earlier(Listed):
        def until(self):
            return AT + HALF_A_MINUTE / 2

        def seen(self):
            return AT - HALF_A_MINUTE / 2

    assert told(Earlier) == set()


def test_limit_of_something_else_than_time_holds(told, sold):
    class Owned(Listed):
        def get_results(self, request):
            self.queryset = self.get_queryset(request).exclude(sku="new")
            ChangeList.get_results(self, request)

    assert "new" not in told(Owned)
