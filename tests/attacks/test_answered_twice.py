"""One approval has one effect, however often and from wherever it is given."""

import pytest

from ai_assistant.testing import reply
from tests.attacks.person import Person, card, go_on
from tests.attacks.setting import make_rows, offered, wanted
from tests.engine.conftest import resume
from tests.engine.people import at_once
from tests.figures import FIGURE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rows():
    return make_rows()


@pytest.fixture
def proposed(ada, script, offer, rows):
    offered(offer)
    script.add(wanted(rows), *["Done."] * 3)
    return ada.ask("Do it.")


def keys(rows):
    for row in rows:
        row.refresh_from_db()
    return [row.key for row in rows]


ONCE = ["a!", "b!", "c!"]


class TestOnce:
    def test_replayed(self, ada, proposed, rows, record_property):
        waiting = card(proposed)
        answers = [ada.answer(waiting) for _ in range(5)]
        run = go_on(proposed)
        answers += [ada.answer(waiting) for _ in range(5)]
        go_on(run)

        assert keys(rows) == ONCE
        told = ["already answered" in one.content.decode() for one in answers]
        assert told == [False] + [True] * 9
        record_property(FIGURE, "replayed approval: 1 effect of 10 answers")

    def test_clicked_twice(self, ada, proposed, rows, record_property):
        waiting = card(proposed)
        tabs = [Person(ada.user) for _ in range(8)]
        at_once(*(lambda tab=tab: tab.answer(waiting) for tab in tabs))
        go_on(proposed)

        assert keys(rows) == ONCE
        record_property(FIGURE, "approved in 8 tabs at once: 1 effect")

    @pytest.mark.parametrize("other", ["deny", "edit", "approve_for_run"])
    def test_two_tabs_at_once(self, ada, proposed, rows, other):
        waiting = card(proposed)
        first, second = Person(ada.user), Person(ada.user)
        at_once(
            lambda: first.answer(waiting),
            lambda: second.answer(waiting, other, value="mine"),
        )
        proposed.refresh_from_db()
        waiting.refresh_from_db()
        run = go_on(proposed)

        assert run.state == "succeeded"
        approved = waiting.status == "approved"
        assert keys(rows) == (ONCE if approved else ["a", "b", "c"])
        assert {row.value for row in rows} <= {"new", "mine", "old"}
        assert len({row.value for row in rows}) == 1

    def test_carried_out_by_two_at_once(self, ada, proposed, rows):
        ada.answer(card(proposed))
        at_once(*[lambda: _resumed(proposed)] * 4)

        assert keys(rows) == ONCE

    def test_asked_twice_for_the_same_is_shown_twice(self, ada, proposed, rows, script):
        """An approval is for one call, not for all calls with these arguments."""
        script.replies[len(script.requests) :] = [wanted(rows), "Done."]
        ada.answer(card(proposed))
        run = go_on(proposed)

        assert run.state == "waiting_approval"
        assert keys(rows) == ONCE

    def test_two_calls_of_one_step(self, ada, script, offer, rows):
        offered(offer)
        first = wanted(rows[:1])[0]
        second = wanted(rows[1:])[0]
        script.add(reply("", first, second), "Done.")
        run = ada.ask("Do it.")
        cards = list(run.interrupts.filter(status="open"))
        assert len(cards) == 2
        ada.answer(cards[0])
        ada.answer(cards[1], nonce=cards[0].nonce)
        assert go_on(run).state == "waiting_approval"
        ada.answer(cards[1], "deny")
        go_on(run)

        done = [key.endswith("!") for key in keys(rows)]
        assert sum(done) == len(cards[0].call.arguments["ids"])


def _resumed(run):
    try:
        return resume(run)
    except ValueError:
        return None  # another was quicker
