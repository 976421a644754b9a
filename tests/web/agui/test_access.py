"""Who may come in: sessions with CSRF, and tokens with their scopes."""

import pytest

from tests.agui import Front
from tests.agui.client import ADDRESS, Unanswered, approve
from tests.web.agui.site import call, text
from tests.web.agui.test_refused import assert_problem

DONE = [text("Done.")]
USER = {"id": "u", "role": "user", "content": "Hello"}
READS = ("history/", "stream/", "capabilities/")


def ask(front):
    return front.post(front.input(messages=[USER]))


class TestSessions:
    def test_nobody_is_signed_in(self, site):
        before = site.count()

        response = ask(site.front(""))

        assert_problem(response, 401, "signed_out")
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert site.count() == before

    @pytest.mark.parametrize("name", READS)
    def test_nobody_may_read(self, site, name):
        assert_problem(site.front("").http.get(ADDRESS + name), 401, "signed_out")

    @pytest.mark.parametrize("headers", [{}, {"X-CSRFToken": "x" * 32}])
    def test_sessions_without_the_token_against_forged_requests(self, site, headers):
        front = site.front()
        front.headers = headers
        before = site.count()

        assert_problem(ask(front), 403, "csrf")
        assert site.count() == before

    def test_signed_out_meanwhile(self, site):
        person = site.person("editor")
        own = type(person)(url=person.url, name="editor").sign_in()
        site.clients.append(own.http)
        headers = {"X-CSRFToken": own.http.cookies.get("csrftoken", "")}
        front = Front(http=own.http, headers=headers)
        front.ask(site.script(DONE))
        own.sign_out()
        front.headers = {"X-CSRFToken": own.http.cookies.get("csrftoken", "")}

        assert_problem(ask(front), 401, "signed_out")


class TestTokens:
    def test_tokens_with_run_may_ask(self, site):
        assert site.program("run").ask(site.script(DONE)).text() == "Done."

    @pytest.mark.parametrize("scopes", [["read"], ["approve"], ["read", "approve"]])
    def test_tokens_without_run_may_not_ask(self, site, scopes):
        before = site.count()

        assert_problem(ask(site.program(*scopes)), 403, "scope")
        assert site.count() == before

    @pytest.mark.parametrize("name", READS)
    def test_tokens_without_read_may_not_look(self, site, name):
        program = site.program("run")
        response = program.http.get(ADDRESS + name, headers=program.headers)

        assert_problem(response, 403, "scope")

    def test_tokens_with_read_may_look(self, site):
        front = site.front()
        front.ask(site.script(DONE))
        program = site.program("read", thread=front.thread)

        assert len(program.history()["messages"]) == 2
        with program.attach(front.run) as reading:
            assert reading.rest().text() == "Done."

    def test_tokens_without_approve_may_not_answer(self, site):
        program = site.program("run")
        asked = site.script([call("needs_approval", text="x")], DONE)
        (wait,) = program.ask(asked).interrupts
        before = site.count()

        response = program.post(program.input(resume=[approve(wait)]))

        assert_problem(response, 403, "scope")
        assert site.count() == before

    def test_tokens_without_approve_is_told_no_nonce(self, site):
        program = site.program("run", "read")
        asked = site.script([call("needs_approval", text="x")], DONE)
        (wait,) = program.ask(asked).interrupts
        (own,) = program.history()["interrupts"]
        with program.attach(program.run) as reading:
            (attached,) = reading.rest().interrupts
        (known,) = site.program(
            *("run", "read", "approve"), thread=program.thread
        ).history()["interrupts"]

        _pk, _dot, nonce = known["id"].partition(".")
        assert nonce
        for told in (wait, own, attached):
            assert told == {**known, "id": told["id"]}
            assert nonce not in told["id"]

    def test_tokens_with_approve_may_answer(self, site):
        program = site.program("run", "approve")
        asked = site.script([call("needs_approval", text="x")], DONE)
        (wait,) = program.ask(asked).interrupts

        assert program.answer(approve(wait)).text() == "Done."

    @pytest.mark.parametrize("secret", ["x", "aia_" + "x" * 43, "aia_\u00e9"])
    def test_unknown_one_is_nobody(self, site, secret):
        front = site.front("")
        front.headers = {"Authorization": f"Bearer {secret}".encode()}

        assert_problem(ask(front), 401, "signed_out")

    def test_bad_one_beside_a_good_session_is_nobody(self, site):
        front = site.front()
        front.headers["Authorization"] = "Bearer aia_forged"

        assert_problem(ask(front), 401, "signed_out")

    def test_tokens_acts_as_its_own_user_beside_the_session_of_another(self, site):
        front = site.front("editor")
        secret = site.token("run", "read")
        front.headers = {"Authorization": f"Bearer {secret}"}
        front.ask(site.script(DONE))

        assert len(site.front("admin", thread=front.thread).history()["messages"]) == 2

    def test_revoked_one_is_nobody(self, site):
        secret = site.new_token("admin", ("run",))
        front = site.front("")
        front.headers = {"Authorization": f"Bearer {secret}"}
        front.ask(site.script(DONE))
        (row,) = site.oracle.rows(
            "SELECT id FROM ai_assistant_accesstoken WHERE prefix = %s", secret[:12]
        )
        person = site.person()
        chosen = {"action": "revoke_chosen", "_selected_action": row["id"]}
        form = {**person.token(), **chosen, "confirmed": "yes"}
        person.http.post("/admin/ai_assistant/accesstoken/", data=form)

        assert_problem(ask(front), 401, "signed_out")


class TestThreadsOfOthers:
    def test_names_are_each_users_own(self, site):
        front, other = site.front(), site.front("editor")
        other.thread = front.thread
        front.ask(site.script([text("For the admin.")]))

        other.ask(site.script([text("For the editor.")]))

        assert front.fresh().ask().order.known.messages
        assert "For the admin." not in str(other.history())

    @pytest.mark.parametrize("name", ["history/", "stream/"])
    def test_our_own_ids_are_not_found(self, site, name):
        front = site.front()
        front.ask(site.script([text("For the admin.")]))
        query = {"threadId": site.conversation(front)["id"], "runId": front.run}

        response = site.front("editor").http.get(ADDRESS + name, params=query)

        assert_problem(response, 404, "not_found")
        assert "For the admin." not in response.text

    def test_nothing_can_be_asked_there(self, site):
        front = site.front()
        front.ask(site.script([text("For the admin.")]))
        own = site.conversation(front)["id"]
        before = site.count()

        assert_problem(ask(site.front("editor", thread=own)), 404, "not_found")
        with pytest.raises(Unanswered):
            site.front("editor", thread=own).ask()
        assert site.count() == before

    def test_own_runs_by_our_ids_are_found(self, site):
        front = site.front()
        front.ask(site.script([text("Mine.")]))
        same = site.front(thread=site.conversation(front)["id"])

        with same.attach(site.run(front)["id"]) as reading:
            assert reading.rest().text() == "Mine."


class TestCapabilities:
    def test_say_what_is_there(self, site):
        told = site.front().http.get(f"{ADDRESS}capabilities/").json()

        assert told["transport"]["streaming"] is True
        assert told["humanInTheLoop"]["interrupts"] is True
        assert told["execution"]["maxIterations"] == 4
        assert told["custom"]["protocolVersion"] == "1.0"
