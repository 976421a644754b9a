"""One tab carries a call out, and its first result is the call's."""

import pytest
from django.utils import timezone

from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.browser import claim_call, finish_call
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.exceptions import Refused
from ai_assistant.testing import call, reply
from tests.engine.calls.browser.conftest import said
from tests.engine.conftest import resume, statuses
from tests.engine.people import at_once, refusal

pytestmark = pytest.mark.django_db(transaction=True)


class TestRequest:
    def test_run_waits_for_the_browser(self, pointing):
        assert (pointing.state, statuses(pointing)) == ("waiting_browser", ["waiting"])
        request = pointing.interrupts.get()
        wanted = {"selector": "#id_title"}
        assert request.request == {"name": "highlight", "arguments": wanted}
        left_s = (request.expires_at - timezone.now()).total_seconds()
        assert 50 < left_s <= 60

    def test_other_calls_of_the_step_are_carried_out(self, play, script):
        calls = (call("highlight", {"selector": "p"}), call("echo", {"text": "a"}))
        script.add(reply("", *calls), "Done.")

        assert statuses(play()) == ["waiting", "complete"]

    @pytest.mark.row("H19")
    def test_server_says_what_the_page_is_to_do(self, play, script, offer):
        def show(number: int) -> dict[str, str]:
            return {"selector": f"#row-{number}"}

        offer(show, effect="ui", browser=True)
        script.add(reply("", call("show", {"number": 7})), "Done.")

        wanted = play().interrupts.get().request["arguments"]

        assert wanted == {"selector": "#row-7"}

    def test_function_that_refuses_asks_no_page(self, play, script, offer):
        def show() -> None:
            raise Refused("no", "Not now.")

        offer(show, effect="ui", browser=True)
        script.add(reply("", call("show")), "Done.")

        run = play()

        assert (run.state, run.calls.get().error) == ("succeeded", "Not now.")
        assert not run.interrupts.exists()

    def test_stop_ends_it(self, pointing):
        stop(pointing.pk)

        assert statuses(pointing) == ["cancelled"]
        assert pointing.interrupts.get().status == "cancelled"
        assert refusal(finish_call, said(pointing)) == "already_answered"


@pytest.mark.row("K02")
class TestOneTab:
    def test_first_claim_wins(self, pointing):
        assert claim_call(said(pointing, tab="one"))
        assert not claim_call(said(pointing, tab="two"))
        assert claim_call(said(pointing, tab="one"))  # renews its lease

    def test_many_claims_at_once(self, pointing):
        works = [
            lambda tab=str(number): claim_call(said(pointing, tab=tab))
            for number in range(4)
        ]

        assert sorted(at_once(*works)) == [False, False, False, True]

    def test_result_of_the_holder_goes_on_with_the_run(self, pointing, script):
        claim_call(said(pointing))
        decided = finish_call(said(pointing, value={"found": True}))
        assert decided.queued

        run = resume(pointing)

        assert (run.state, statuses(run)) == ("succeeded", ["complete"])
        assert script.requests[1].messages[-1]["content"] == '{"found": true}'

    def test_result_of_another_tab_is_refused(self, pointing):
        claim_call(said(pointing, tab="one"))

        late = said(pointing, tab="two", value=1)

        assert refusal(finish_call, late) == "already_answered"
        assert statuses(pointing) == ["waiting"]

    @pytest.mark.parametrize("code", ["", "missing"])
    def test_what_a_client_carries_out_is_of_no_tab(self, pointing, code):
        pointing.interrupts.update(is_of_client=True)

        assert not claim_call(said(pointing, tab="client"))
        mine = said(pointing, tab="client", code=code)
        assert refusal(finish_call, mine) == "already_answered"
        finish_call(said(pointing, tab="", is_client=True, value=1))
        assert statuses(pointing) == ["complete"]

    def test_result_without_a_claim_is_refused(self, pointing):
        assert refusal(finish_call, said(pointing, value=1)) == "already_answered"

    def test_second_result_is_refused(self, pointing):
        claim_call(said(pointing))
        finish_call(said(pointing, value=1))

        assert refusal(finish_call, said(pointing, value=2)) == "already_answered"
        assert pointing.calls.get().result["data"] == 1

    def test_two_results_at_once(self, pointing):
        claim_call(said(pointing))
        works = [
            lambda value=value: finish_call(said(pointing, value=value)).queued
            for value in (1, 2)
        ]

        assert sorted(map(str, at_once(*works))) == ["True", "already_answered"]

    def test_wrong_nonce(self, pointing):
        assert refusal(claim_call, said(pointing, nonce="x")) == "not_found"

    def test_one_tab_of_another_user(self, pointing, staff):
        assert refusal(claim_call, said(pointing, user_id=staff.pk)) == "not_found"


class TestFailures:
    @pytest.mark.row("T06")
    def test_tool_that_is_not_on_the_page(self, pointing):
        finish_call(said(pointing, code="missing"))

        result = pointing.calls.get().result

        assert (result["ok"], result["error_type"]) == (False, "not_on_page")
        assert "not available on this page" in result["error"]

    def test_missing_in_one_tab_while_another_is_at_it(self, pointing):
        claim_call(said(pointing, tab="one"))

        other = said(pointing, tab="two", code="missing")

        assert refusal(finish_call, other) == "already_answered"

    def test_code_of_the_page_fails(self, pointing):
        claim_call(said(pointing))
        finish_call(said(pointing, code="failed", error="no such thing"))

        assert pointing.calls.get().error.endswith("no such thing")

    def test_no_page_within_the_time(self, pointing):
        pointing.interrupts.update(expires_at=timezone.now())
        sweep_once()

        run = resume(pointing)

        assert (run.state, run.calls.get().result["error_type"]) == (
            "succeeded",
            "no_page",
        )

    def test_tab_that_has_gone_silent(self, pointing):
        claim_call(said(pointing))
        pointing.interrupts.update(lease_until=1)

        sweep_once()

        assert statuses(pointing) == ["unknown"]
        assert refusal(finish_call, said(pointing, value=1)) == "already_answered"

    def test_tab_that_is_at_it_is_left_alone(self, pointing):
        claim_call(said(pointing))

        sweep_once()

        assert statuses(pointing) == ["waiting"]

    def test_claim_after_the_time(self, pointing):
        pointing.interrupts.update(expires_at=timezone.now())

        assert not claim_call(said(pointing))
