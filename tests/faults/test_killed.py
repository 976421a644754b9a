"""The server, the executor and the Celery worker are killed in mid-answer."""

import time
from collections import Counter
from uuid import uuid4

import pytest

from tests.faults.scripts import marker, telling_of
from tests.faults.site import Site
from tests.faults.watching import (
    assert_whole,
    freeze,
    shown_tellings,
    wait_call,
    wait_resumed,
    wait_text,
)

pytestmark = [pytest.mark.faults, pytest.mark.row("L05")]


def wait_taken(site: Site, run: str, times: int) -> None:
    """Wait until a worker has taken the last call of a run for the nth time."""
    taken = (
        "SELECT epoch FROM ai_assistant_backgroundcall b "
        "JOIN ai_assistant_toolcall c ON c.id = b.call_id WHERE c.run_id = %s"
    )
    own = site.oracle._id(run)
    site.oracle.wait(
        lambda: any(row["epoch"] >= times for row in site.oracle.rows(taken, own)),
        60,
        f"a worker that takes the call of {run}",
    )


def kill_all(site: Site) -> None:
    for part in site.parts:
        part.kill()


class TestServer:
    def test_server_goes_on_within_3_s_of_the_first_request(self, site, trials, figure):
        person, took = site.person(), []
        for _ in range(trials):
            tag = uuid4().hex
            person.new_conversation()
            run = person.ask(marker("story", tag, first=3, rate=15, tokens=24))
            wait_text(site, run)
            kill_all(site)
            epoch = site.oracle.run(run)["epoch"]

            site.back()  # its health was asked: that is the first request
            begin = time.monotonic()
            took.append(wait_resumed(site, run, epoch=epoch, begin=begin))
            assert_whole(site, person, run, tag)

        figure("resumed after kill -9", took)
        assert max(took) < 3

    def test_undisturbed_and_killed_runs_say_the_same(self, site):
        person, text = site.person(), marker("stream", "same", rate=40, tokens=40)
        undisturbed = person.ask(text)
        site.oracle.wait_final(undisturbed)
        person.new_conversation()
        killed = person.ask(text)
        for _ in range(2):
            wait_text(site, killed)
            kill_all(site)
            site.back()

        site.oracle.wait_final(killed, 60)
        assert site.oracle.text(killed) == site.oracle.text(undisturbed)
        assert not site.oracle.problems([killed])

    def test_an_open_tab_shows_one_answer(self, site):
        person, tag = site.person(), uuid4().hex
        run = person.ask(marker("story", tag, first=3, rate=15, tokens=24))
        with person.listen() as tab:
            wait_text(site, run)
            kill_all(site)
            assert tab.closed.wait(10)
        site.back()
        with person.listen(run, 0) as tab:
            tab.wait_for('"state": "idle"')

        assert_whole(site, person, run, tag)

    @pytest.mark.timeout(180)
    def test_server_with_litellm(self, demo_server, oracle):
        server = demo_server(provider="litellm").start()
        tables, tag = oracle(server), uuid4().hex
        from tests.servers.client import Person

        with Person(url=server.url).sign_in() as person:
            run = person.ask(marker("story", tag, first=3, rate=10, tokens=24))
            tables.wait(lambda: any(tables.logged_texts(run).values()), 60)
            server.kill()
            server.start()
            begin = time.monotonic()
            tables.wait(lambda: tables.run(run)["epoch"] > 1, 20)
            took = time.monotonic() - begin
            row = tables.wait_final(run, 60)

            assert row["state"] == "succeeded"
            assert took < 3
            assert telling_of(tables.text(run), tag) == 2
            assert shown_tellings(person.page()) == {2}
            assert not tables.problems()


class TestExecutor:
    def test_the_answer_is_whole(self, each_site: Site, trials, figure):
        site, person, took = each_site, each_site.person(), []
        for _ in range(trials):
            site.up()
            tag = uuid4().hex
            person.new_conversation()
            run = person.ask(marker("story", tag, first=3, rate=15, tokens=24))
            wait_text(site, run)
            holder = site.holder(run)
            epoch = site.oracle.run(run)["epoch"]
            holder.kill()
            begin = time.monotonic()
            took.append(wait_resumed(site, run, epoch=epoch, begin=begin))
            site.up()
            assert assert_whole(site, person, run, tag) > 1

        figure("taken over by another executor", took)
        assert max(took) < 3


class TestFrozenExecutor:
    """A process that is frozen for longer than its lease, and wakes as a zombie."""

    def test_frozen_executor_writes_nothing_after_it_was_replaced(
        self, each_site: Site
    ):
        site, person = each_site, each_site.person()
        run = person.ask(marker("slow-write", uuid4().hex))
        wait_call(site, run, "executing")
        holder = site.holder(run)
        epoch = site.oracle.run(run)["epoch"]
        freeze(site, holder)
        wait_resumed(site, run, epoch=epoch, begin=time.monotonic())
        holder.resume()  # it has waited enough, and tries to write before the other

        site.oracle.wait_final(run, 30)
        (call,) = site.oracle.calls(run)
        assert site.oracle.written(run) == [call["result"]["data"]["row"]]
        assert not site.oracle.problems([run])

    def test_frozen_executor_says_nothing_after_it_was_replaced(self, each_site: Site):
        site, person, tag = each_site, each_site.person(), uuid4().hex
        run = person.ask(marker("story", tag, first=3, rate=12, tokens=24))
        wait_text(site, run)
        holder = site.holder(run)
        epoch = site.oracle.run(run)["epoch"]
        freeze(site, holder)
        wait_resumed(site, run, epoch=epoch, begin=time.monotonic())
        holder.resume()

        assert assert_whole(site, person, run, tag) > 1


class TestLongTool:
    def test_every_step_once(self, each_site: Site):
        site, person = each_site, each_site.person()
        workers = [site.celery] if site.celery else site.executors
        run = person.ask(marker("long", uuid4().hex))
        for times in (1, 2):
            wait_taken(site, run, times)
            time.sleep(0.5)
            for worker in workers:
                worker.kill()
            for worker in workers:
                worker.start(wait=False)  # one may be done before another is ready
        for worker in workers:
            worker.wait_ready()

        assert site.oracle.wait_final(run, 60)["state"] == "succeeded"
        done = {key: n for (own, key), n in site.oracle.effects().items() if own == run}
        assert done == Counter(f"step-{n}" for n in range(20))
        assert site.oracle.texts(run)[-1] == "Done."
        assert not site.oracle.problems([run])


class TestSlowWrite:
    def test_slow_write_ends_with_its_real_result(self, each_site: Site):
        site, person = each_site, each_site.person()
        run = person.ask(marker("slow-write", uuid4().hex))
        wait_call(site, run, "executing")
        for executor in site.executors:
            executor.kill()
        site.up()

        assert site.oracle.wait_final(run, 60)["state"] == "succeeded"
        (call,) = site.oracle.calls(run)
        assert call["status"] == "complete"
        assert site.oracle.written(run) == [call["result"]["data"]["row"]]
        assert not site.oracle.problems([run])


class TestApproval:
    def test_approval_is_there_after_a_restart(self, each_site: Site):
        site, person = each_site, each_site.person()
        run = person.ask(marker("ask", uuid4().hex))
        site.oracle.wait(lambda: site.oracle.run(run)["state"] == "waiting_approval")
        kill_all(site)
        site.up()

        (card,) = person.cards()
        assert person.answer(card, decision="approve").status_code == 204
        assert site.oracle.wait_final(run)["state"] == "succeeded"
        (call,) = site.oracle.calls(run)
        assert call["result"]["data"] == "Approved: please"
        assert person.answer(card, decision="deny").status_code != 204
        assert not site.oracle.problems([run])
