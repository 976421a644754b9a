"""A token with its scopes, or a session with CSRF."""

import json

import pytest
from django.test import Client

from ai_assistant.models import Run
from tests.web.conftest import ask, asked_to_approve
from tests.web.rest.program import API, Program, code

JSON = "application/json"


class TestToken:
    def test_token_without_one(self, people):
        response = Client().get(f"{API}runs/")

        assert (response.status_code, code(response)) == (401, "signed_out")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")

    def test_token_of_nobody_known(self, people):
        client = Client(headers={"authorization": "Bearer aia_x"})

        assert code(client.get(f"{API}runs/")) == "signed_out"

    @pytest.mark.parametrize(
        ("method", "path", "scope"),
        [
            ("get", "runs/", "read"),
            ("post", "runs/", "run"),
            ("post", "runs/{run}/stop/", "run"),
            ("post", "runs/{run}/retry/", "run"),
            ("patch", "conversations/{conversation}/", "run"),
            ("delete", "conversations/{conversation}/", "run"),
            ("post", "interrupts/{run}/answer/", "approve"),
        ],
    )
    def test_token_needs_the_scope(self, program, people, method, path, scope):
        others = [one for one in ("read", "run", "approve") if one != scope]
        run = ask(people["ada"])
        path = path.format(run=run.pk, conversation=run.conversation_id)
        ada = program("ada", others)

        if method == "get":
            response = ada.get(path)
        else:
            response = ada.post(path, {"text": "a"}, method=method)

        assert (response.status_code, code(response)) == (403, "scope")
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("name", ["viewer", "nobody"])
    def test_token_needs_the_permission(self, program, name):
        other = program(name)

        assert code(other.start()) == "permission"
        assert other.get("runs/").status_code == (200 if name == "viewer" else 403)


@pytest.mark.row("X05")
class TestSession:
    def test_session_lists_own_runs(self, browser, people):
        run = ask(people["ada"])

        response = browser("ada").get(f"{API}runs/")

        assert [one["id"] for one in response.json()["results"]] == [str(run.pk)]

    @pytest.mark.usefixtures("quiet")
    def test_session_needs_csrf_to_write(self, browser):
        client = browser("ada", enforce_csrf_checks=True)
        body = json.dumps({"text": "Hello"})

        refused = client.post(f"{API}runs/", body, content_type=JSON)
        client.get("/admin/")
        token = client.cookies["csrftoken"].value
        taken = client.post(
            f"{API}runs/", body, content_type=JSON, headers={"x-csrftoken": token}
        )

        assert (refused.status_code, code(refused)) == (403, "csrf")
        assert taken.status_code == 201


class TestRoot:
    def test_root_says_who_and_what(self, program):
        told = program("ada", ("read",)).get().json()

        assert (told["user"], told["scopes"]) == ("ada", ["read"])

    def test_person_who_only_looks(self, browser):
        assert browser("viewer").get(API).json()["scopes"] == ["read"]

    def test_every_address_answers(self, program):
        ada = program()

        for address in ada.get().json()["addresses"].values():
            assert ada.http.get(address).status_code == 200, address


class TestAnotherUser:
    """Whatever is named, it is not there."""

    @pytest.mark.parametrize(
        "path",
        [
            "runs/{run}/",
            "runs/{run}/events/",
            "conversations/{conversation}/",
            "conversations/{conversation}/messages/",
            "interrupts/{interrupt}/",
            "calls/{call}/",
        ],
    )
    def test_another_user_cannot_read(self, program, people, path):
        asked = asked_to_approve(people["ada"])
        path = path.format(**ids(asked))

        assert Program(people["ada"]).get(path).status_code == 200
        response = program("bob").get(path)
        assert (response.status_code, code(response)) == (404, "not_found")

    @pytest.mark.parametrize(
        "path",
        ["runs/", "conversations/", "interrupts/", "calls/", "changes/", "usage/"],
    )
    def test_another_user_sees_nothing_in_lists(self, program, people, path):
        asked_to_approve(people["ada"])

        assert program("bob").get(path).json()["results"] == []

    def test_filters_find_nothing(self, program, people):
        asked = asked_to_approve(people["ada"])
        bob = program("bob")

        for path in ("interrupts/", "calls/", "changes/", "usage/"):
            found = bob.get(path, run=asked.run_id).json()
            assert found["results"] == []

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("post", "runs/{run}/stop/"),
            ("post", "runs/{run}/retry/"),
            ("patch", "conversations/{conversation}/"),
            ("delete", "conversations/{conversation}/"),
            ("post", "interrupts/{interrupt}/answer/"),
        ],
    )
    def test_another_user_cannot_write(self, program, people, method, path):
        asked = asked_to_approve(people["ada"])
        body = {}
        if "interrupt" in path:
            body = {"nonce": asked.nonce, "decision": "approve"}
        if method == "patch":
            body = {"title": "Mine"}

        response = program("bob").post(path.format(**ids(asked)), body, method=method)

        assert (response.status_code, code(response)) == (404, "not_found")
        asked.refresh_from_db()
        assert (asked.status, asked.run.state) == ("open", "waiting_approval")
        assert asked.run.conversation.title == "Do it"

    def test_another_user_cannot_speak_in_it(self, program, people):
        run = ask(people["ada"])

        response = program("bob").start(conversation=str(run.conversation_id))

        assert (response.status_code, code(response)) == (404, "not_found")


def ids(asked) -> dict:
    return {
        "run": asked.run_id,
        "conversation": asked.run.conversation_id,
        "interrupt": asked.pk,
        "call": asked.call_id,
    }


class TestPageOfAnotherSite:
    ORIGIN = "https://app.example"
    ASKS = {"origin": ORIGIN, "access-control-request-method": "POST"}  # noqa: RUF012

    def test_page_of_another_site_is_let_in_by_name(self, program, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "CORS_ORIGINS": [self.ORIGIN],
        }
        ada = program()

        asked = Client().options(f"{API}runs/", headers=self.ASKS)
        for path in ("runs/", "nope/"):
            read = ada.http.get(API + path, headers={"origin": self.ORIGIN})
            assert read.headers["Access-Control-Allow-Origin"] == self.ORIGIN

        assert asked.status_code == 204
        assert asked.headers["Access-Control-Allow-Origin"] == self.ORIGIN

    def test_page_of_another_site_is_not_let_in_else(self, program):
        asked = Client().options(f"{API}runs/", headers=self.ASKS)
        read = program().http.get(f"{API}runs/", headers={"origin": self.ORIGIN})

        assert (asked.status_code, code(asked)) == (403, "origin")
        assert "Access-Control-Allow-Origin" not in read.headers
