"""What is around a run ends: a deployment, the broker, the database, the session."""

import time
from collections import Counter
from uuid import uuid4

import psycopg
import pytest

from tests.faults.scripts import marker
from tests.faults.site import Site
from tests.faults.watching import assert_whole, wait_call, wait_text

pytestmark = pytest.mark.faults


class TestDeployment:
    def test_sigterm_loses_no_run(self, each_site: Site, figure):
        site = each_site
        people, tags = (
            [site.person() for _ in range(6)],
            [uuid4().hex for _ in range(6)],
        )
        runs = []
        for person, tag in zip(people, tags, strict=True):
            person.new_conversation()
            runs.append(person.ask(marker("story", tag, first=3, rate=12, tokens=24)))
        for run in runs:
            wait_text(site, run)
        begin = time.monotonic()
        for part in site.parts:
            part.terminate()
        figure("all processes gone after SIGTERM", [time.monotonic() - begin])
        site.up()

        for person, run, tag in zip(people, runs, tags, strict=True):
            assert_whole(site, person, run, tag)


class TestBroker:
    def test_redis_comes_back_empty(self, redis_site: Site):
        site, person, other, tag = redis_site, *_two(redis_site), uuid4().hex
        told = person.ask(marker("story", tag, first=3, rate=8, tokens=24))
        long = other.ask(marker("long", uuid4().hex))
        wait_call(site, long, "executing")
        wait_text(site, told)
        assert site.redis is not None
        site.redis.kill()
        time.sleep(1)
        site.redis.start()

        assert_whole(site, person, told, tag)
        assert site.oracle.wait_final(long, 60)["state"] == "succeeded"
        effects = site.oracle.effects()
        done = {key: n for (own, key), n in effects.items() if own == long}
        assert done == Counter(f"step-{n}" for n in range(20))

    def test_a_lost_task_message_is_sent_again(self, redis_site: Site):
        site = redis_site
        assert site.celery is not None
        site.celery.kill()
        run = site.person().ask(marker("long", uuid4().hex))
        wait_call(site, run, "pending")
        time.sleep(0.5)
        assert site.redis is not None
        site.redis.restart()
        site.up()

        assert site.oracle.wait_final(run, 60)["state"] == "succeeded"
        assert not site.oracle.problems([run])

    def test_no_redis_at_all(self, redis_site: Site):
        site, person, tag = redis_site, redis_site.person(), uuid4().hex
        assert site.redis is not None
        site.redis.kill()
        run = person.ask(marker("story", tag, rate=20, tokens=24))

        assert_whole(site, person, run, tag)


class TestDatabase:
    def test_postgres_restarts(self, postgres_site: Site, postgres_server):
        site = postgres_site
        person, other, tag = *_two(site), uuid4().hex
        told = person.ask(marker("story", tag, first=3, rate=8, tokens=24))
        long = other.ask(marker("long", uuid4().hex))
        wait_text(site, told)
        postgres_server.restart()

        assert_whole(site, person, told, tag)
        assert site.oracle.wait_final(long, 60)["state"] == "succeeded"
        effects = site.oracle.effects()
        done = {key: n for (own, key), n in effects.items() if own == long}
        assert done == Counter(f"step-{n}" for n in range(20))

    def test_a_locked_run_holds_up_no_other(self, postgres_site: Site):
        site, tag = postgres_site, uuid4().hex
        person, other = _two(site)
        held = person.ask(marker("story", tag, first=3, rate=8, tokens=24))
        wait_text(site, held)
        holder = site.holder(held)
        with psycopg.connect(site.server.database_url) as connection:
            # As a process does that is frozen within a transaction of the run.
            lock = "SELECT 1 FROM ai_assistant_run WHERE id = %s FOR UPDATE"
            connection.execute(lock, [held])
            holder.kill()
            site.up()
            run = other.ask(marker("hello", uuid4().hex))
            assert site.oracle.wait_final(run, 20)["state"] == "succeeded"

        assert_whole(site, person, held, tag)


class TestSession:
    def test_sign_out_stops_a_run(self, site: Site, figure):
        person = site.fresh_person("editor")
        run = person.ask(marker("stream", "out", rate=5, tokens=100))
        wait_text(site, run)
        begin = time.monotonic()
        person.sign_out()
        row = site.oracle.wait_final(run, 15)

        figure("stopped after sign-out", [time.monotonic() - begin])
        assert row["state"] == "cancelled"
        assert row["error_code"] == "signed_out"
        assert not site.oracle.problems([run])


def _two(site: Site):
    return site.person(), site.person()
