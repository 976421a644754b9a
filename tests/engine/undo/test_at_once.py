"""Two undos of the same changes at once: one of them does it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from ai_assistant.models.change import ChangeSet
from tests.warehouse.models import Product

pytestmark = pytest.mark.django_db


def test_two_at_once_undo_once(scene, stock):
    values = {"name": "Lantern"}
    model, own = "warehouse.product", stock.lamp.pk
    scene.call("change_object", model=model, id=own, values=values)
    digest = scene.plan().digest

    def undo():
        try:
            return scene.undo(digest=digest)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        done = [one.result() for one in [pool.submit(undo), pool.submit(undo)]]

    assert sorted(one.done for one in done) == [False, True]
    assert ChangeSet.objects.filter(kind="undo").count() == 1
    assert Product.objects.get(pk=own).name == "Lamp"
