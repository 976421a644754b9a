"""
What django-easy-audit logs of a tool's writes is what it logs of the page's.

It writes its events after the commit, so these tests commit, and tools are called by the
engine: each write comes after a try-out that was rolled back.
"""

from collections import Counter

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import Client
from easyaudit.middleware.easyaudit import get_current_request
from easyaudit.models import CRUDEvent

from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.hosts.packages.context import context_on, use
from tests.hosts.packages.person import Person
from tests.hosts.packages.sites.easyaudit import cases
from tests.hosts.packages.sites.easyaudit.models import Poll

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def boss():
    return get_user_model().objects.create_superuser("ada", password="hunter2hunter2")


def anew():
    """Make the rows of the site as they are before each case; forget the events."""
    for model in apps.get_app_config("host").get_models():
        model.objects.all().delete()
    operations, numbers = connection.ops, connection.introspection.sequence_list()
    with connection.cursor() as cursor:
        for statement in operations.sequence_reset_by_name_sql(no_style(), numbers):
            cursor.execute(statement)
    cases.make()
    CRUDEvent.objects.all().delete()


def events():
    """Return what was logged of the site's own rows."""
    names = ("event_type", "content_type__model", "object_id", "changed_fields")
    found = CRUDEvent.objects.filter(content_type__app_label="host")
    return Counter(found.values_list(*names, "object_repr", "user__username"))


def asked(user, case):
    """Return the run of a tool for this case, which waits for an approval."""
    given = {"model": case.model, **case.arguments}
    page = Person(Client(), case).address
    replies = [reply("", call(case.tool, given)), "Done."]
    played = run_assistant(user, page, "Do it.", replies=replies)
    assert played.state == "waiting_approval", played.error
    assert events() == Counter()
    assert get_current_request() is None
    return played


@pytest.mark.parametrize("name", list(cases.CASES))
def test_events_of_a_tool_are_those_of_the_page(name, boss):
    case = cases.CASES[name]
    client = Client()
    client.force_login(boss)
    anew()
    assert Person(client, case).act() == ""
    of_page = events()
    anew()

    played = answer_interrupt(asked(boss, case), "approve")

    assert played.state == "succeeded", played.error
    assert of_page
    assert {row[-1] for row in of_page} == {"ada"}
    assert events() == of_page
    assert get_current_request() is None


def test_nothing_is_left_of_what_was_rolled_back(boss):
    """Code of the site that writes then in this thread has no request, so no person."""
    anew()
    client = Client()
    client.force_login(boss)
    case = cases.CASES["change a row"]
    context = context_on(Person(client, case).address, client, boss)

    with transaction.atomic():
        assert use(context, case.tool, model=case.model, **case.arguments).ok
        transaction.set_rollback(True)
    assert get_current_request() is None
    Poll.objects.get(pk=2).save()

    ((event, count),) = events().items()
    assert (event[1:3], event[-1], count) == (("poll", "2"), None, 1)
