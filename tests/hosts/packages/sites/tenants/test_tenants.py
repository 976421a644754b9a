"""A process does nothing for another tenant: neither by its host, nor by its database."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

if os.environ.get("HOSTS_PACKAGE") != "tenants" or os.environ["TENANT"] != "acme":
    pytest.skip("of the site of django-tenants, once", allow_module_level=True)

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, SuspiciousOperation
from django.db import OperationalError, connection, transaction
from django.test import Client
from django_tenants.utils import schema_context, tenant_context

from ai_assistant.checks import check_assistant
from ai_assistant.safety.limits import serialize
from ai_assistant.tenant_backend.base import DatabaseWrapper
from tests.hosts.packages.sites.tenants.customers.models import Tenant
from tests.hosts.packages.sites.tenants.servers import (
    TenantServer,
    do,
    rows,
    run_of,
    wait_for,
    wait_until,
)

TENANTS = ("acme", "beta")
AT_ONCE = 4  # runs of each tenant
LEFT_S = 6.0  # three leases: by then any process would have taken the run


def schema():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        return cursor.fetchone()[0]


@pytest.mark.django_db
class TestConnection:
    @pytest.mark.parametrize("name", ["beta", "public"])
    def test_leaves_its_schema_for_no_other(self, name):
        with pytest.raises(SuspiciousOperation), schema_context(name):
            pass
        with pytest.raises(SuspiciousOperation):
            connection.set_schema(name)
        assert (connection.schema_name, schema()) == ("acme", "acme")

    def test_begins_and_ends_a_request_there(self):
        connection.set_schema_to_public()
        with tenant_context(Tenant.objects.get(schema_name="acme")):
            assert schema() == "acme"
        assert (connection.schema_name, schema()) == ("acme", "acme")

    def test_of_another_host_is_refused(self):
        answer = Client(SERVER_NAME="localhost").get("/admin/login/")

        assert answer.status_code == 400
        assert Client(SERVER_NAME="127.0.0.1").get("/admin/login/").status_code == 200


def test_check_finds_nothing_wrong():
    found = [message.id for message in check_assistant()]

    assert [one for one in found if one.startswith("ai_assistant.E06")] == []


def elsewhere(work):
    """Do it in a thread of its own, which has no connection yet."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


def opened_elsewhere():
    """Return the schemas of a new connection, before and after a rollback."""
    try:
        with transaction.atomic():
            inside = schema()
            transaction.set_rollback(True)
        return inside, schema()
    finally:
        connection.close()


def test_each_thread_begins_in_the_schema(django_db_blocker):
    with django_db_blocker.unblock():
        assert elsewhere(opened_elsewhere) == ("acme", "acme")


def locked_elsewhere():
    """Return the tenant of another process, which waits for no lock of this one."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            serialize("budgets")
        return connection.own_schema
    finally:
        connection.close()


def test_lock_keeps_no_other_tenant_waiting(django_db_blocker, monkeypatch):
    with django_db_blocker.unblock(), transaction.atomic():
        serialize("budgets")
        with pytest.raises(OperationalError):  # another run of the same tenant
            elsewhere(locked_elsewhere)

        monkeypatch.setitem(settings.DATABASES["default"], "TENANT", "beta")

        assert elsewhere(locked_elsewhere) == "beta"


def test_tables_that_tenants_would_share():
    settings = {**connection.settings_dict}
    do("CREATE TABLE ai_assistant_run (id int)", "public")
    try:
        with pytest.raises(ImproperlyConfigured, match="TENANT_APPS"):
            DatabaseWrapper(settings).connect()
    finally:
        do("DROP TABLE ai_assistant_run", "public")


@pytest.mark.parametrize("name", ["", None, "public"])
def test_process_of_no_tenant(name):
    with pytest.raises(ImproperlyConfigured, match="'TENANT'"):
        DatabaseWrapper({**connection.settings_dict, "TENANT": name})


@pytest.fixture(scope="module")
def servers(tmp_path_factory, model_server):
    folder = tmp_path_factory.mktemp("tenants")
    made = {name: TenantServer(name, model_server.base, folder) for name in TENANTS}
    for name, server in made.items():
        values = {"title": f"By {name}"}
        given = {"model": "host.poll", "id": "9", "values": values}
        change = [{"op": "tool_call", "name": "change_object", "arguments": given}]
        model_server.script(f"tenant-{name}", [change, [DONE]])
        held = [{"op": "hold", "name": f"tenant-{name}"}, DONE]
        model_server.script(f"tenant-held-{name}", [change, held])
        server.process.start(wait=False)
    for server in made.values():
        server.process.wait_ready()
    yield made
    for server in made.values():
        server.process.kill()


@pytest.fixture(autouse=True)
def old_titles():
    for name in TENANTS:
        do("UPDATE host_poll SET title = 'Old', saved_for = '' WHERE id = 9", name)


DONE = {"op": "text", "text": "Done."}


def polls(name):
    return rows("SELECT title, saved_for FROM host_poll ORDER BY id", name)


def asked(server, script=""):
    """Return a person, and the run and the card of what they have asked for."""
    person = server.person()
    run = person.ask(f"[[script:{script or 'tenant'}-{server.tenant}]]")
    wait_for(server.tenant, run, "waiting_approval")
    return person, run, person.cards()[0]


def change(server, count=1):
    """Have so many runs do it, which all wait at the same time; return them."""
    waiting = [asked(server) for _ in range(count)]
    for person, _run, card in waiting:
        assert person.answer(card, decision="approve").status_code == 204
    for person, run, _card in waiting:
        wait_for(server.tenant, run, "succeeded")
        person.close()
    return {run for _person, run, _card in waiting}


class TestServers:
    def test_each_run_changes_rows_of_its_tenant(self, servers):
        with ThreadPoolExecutor() as threads:
            done = {
                name: threads.submit(change, servers[name], AT_ONCE) for name in TENANTS
            }
            runs = {name: one.result() for name, one in done.items()}

        assert polls("acme") == [("By acme", "Acme Ltd")]
        assert polls("beta") == [("By beta", "Beta Ltd")]
        stored = {
            name: {
                run for (run,) in rows("SELECT id::text FROM ai_assistant_run", name)
            }
            for name in TENANTS
        }
        assert all(runs[name] <= stored[name] for name in TENANTS)
        assert not stored["acme"] & stored["beta"]

    def test_card_is_answered_by_its_own_tenant(self, servers):
        person, run, card = asked(servers["acme"])
        with servers["beta"].person() as other:
            refused = other.answer(card, decision="approve")
            page = other.http.get(
                "/assistant/panel/", params={"conversation": person.conversation}
            )

        assert refused.status_code == 404
        assert "By acme" not in page.text
        assert run_of("acme", run)[0] == "waiting_approval"
        assert (polls("acme"), polls("beta")) == ([("Old", "")], [("Old", "")])
        person.answer(card, decision="deny")
        person.close()

    def test_process_answers_no_other_host(self, servers):
        acme = servers["acme"]
        with acme.person() as person:
            person.http.headers["Host"] = f"localhost:{acme.port}"
            refused = person.http.get("/admin/")

        assert refused.status_code == 400

    def test_undone_by_its_own_tenant(self, servers):
        (run,) = change(servers["acme"])
        change(servers["beta"])
        with servers["beta"].person() as other:
            refused = other.post("undo", run=run, do="now")
        assert refused.status_code == 404
        assert polls("acme") == [("By acme", "Acme Ltd")]

        with servers["acme"].person() as person:
            assert person.post("undo", run=run, do="now").status_code == 200

        assert polls("acme") == [("Old", "")]
        assert polls("beta") == [("By beta", "Beta Ltd")]

    def test_run_is_resumed_by_its_own_tenant(self, servers, model_server):
        acme = servers["acme"]
        person, run, card = asked(acme, "tenant-held")
        person.answer(card, decision="approve")
        wait_until(lambda: polls("acme") == [("By acme", "Acme Ltd")])
        wait_for("acme", run, "running")  # until the model says more
        acme.process.kill()
        left = run_of("acme", run)

        time.sleep(LEFT_S)  # the server of the other tenant sweeps meanwhile

        assert run_of("acme", run) == left
        acme.process.start()
        model_server.release("tenant-acme")
        wait_for("acme", run, "succeeded")
        assert polls("acme") == [("By acme", "Acme Ltd")]
        assert polls("beta") == [("Old", "")]
        person.close()
