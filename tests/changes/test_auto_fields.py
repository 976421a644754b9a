"""Which rows are written along with others, and stand on no card."""

import pytest
from django.db import models
from django.test.utils import isolate_apps

from ai_assistant.changes.verify.auto_fields import is_side


@pytest.mark.parametrize("package", ["auditlog", "reversion", "simple_history"])
@isolate_apps("tests.gallery")
def test_rows_of_a_package_that_keeps_a_history(package):
    class Entry(models.Model):
        __module__ = f"{package}.models"

        class Meta:
            abstract = True
            app_label = "gallery"

    class OwnEntry(Entry):  # noqa: DJ008 - it has no text
        class Meta:
            app_label = "gallery"

    assert is_side(OwnEntry)


@isolate_apps("tests.gallery")
def test_rows_of_an_app_that_is_called_like_one():
    class Case(models.Model):  # noqa: DJ008 - it has no text
        history_type = models.CharField(max_length=10)

        class Meta:
            app_label = "auditlog"

    assert not is_side(Case)
