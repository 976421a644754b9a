"""What pages say over HTTP of the calls that they carry out."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.web.panel.panel import bare_panel
from tests.web.conftest import asked_to_approve

CLAIM, RESULT = "/assistant/claim/", "/assistant/result/"


@pytest.fixture
def request_to_page(people):
    """A call that waits for a page of ada's."""
    interrupt = asked_to_approve(people["ada"])
    interrupt.kind = Interrupt.Kind.BROWSER
    interrupt.request = {"name": "needs_approval", "arguments": {"text": "a"}}
    interrupt.expires_at = timezone.now() + timedelta(seconds=60)
    interrupt.save()
    return interrupt


def fields(interrupt, tab="one", **more):
    said = {"interrupt": str(interrupt.pk), "nonce": interrupt.nonce, "tab": tab}
    return {**said, **more}


class TestFrames:
    def test_open_page_is_asked(self, request_to_page, people):
        (said,) = asked_of(request_to_page, people["ada"])

        assert said["name"] == "needs_approval"
        assert said["arguments"] == {"text": "a"}
        assert said["nonce"] == request_to_page.nonce

    def test_frames_not_once_a_tab_has_it(self, request_to_page, people, browser):
        browser("ada").post(CLAIM, fields(request_to_page))

        assert asked_of(request_to_page, people["ada"]) == []


def asked_of(interrupt, user):
    panel = bare_panel(user, "/admin/")
    projection = Projection(interrupt.run.conversation_id, user.pk, panel)
    ops = projection.attach(None, 0)
    return [op[2] for op in ops if op[:2] == ["tell", "browser"]]


class TestClaim:
    @pytest.mark.row("K02")
    def test_claim_goes_to_one_tab(self, request_to_page, browser):
        ada = browser("ada")

        answers = [
            ada.post(CLAIM, fields(request_to_page, tab)).json()["go"]
            for tab in ("one", "two", "one")
        ]

        assert answers == [True, False, True]

    def test_claim_not_to_another_user(self, request_to_page, browser):
        answer = browser("bob").post(CLAIM, fields(request_to_page))

        assert answer.json()["go"] is False

    def test_claim_needs_the_token_of_a_page(self, request_to_page, browser):
        ada = browser("ada", enforce_csrf_checks=True)

        assert ada.post(CLAIM, fields(request_to_page)).status_code == 403

    def test_signed_out(self, request_to_page, browser):
        answer = browser().post(
            CLAIM, fields(request_to_page), headers={"HX-Request": "true"}
        )

        assert answer.status_code == 401


class TestResult:
    @pytest.fixture
    def ada(self, request_to_page, browser):
        ada = browser("ada")
        ada.post(CLAIM, fields(request_to_page))
        return ada

    def send(self, ada, interrupt, **more):
        answer = ada.post(RESULT, fields(interrupt, **more)).json()
        interrupt.call.refresh_from_db()
        return answer["taken"]

    def test_result_is_the_result_of_the_call(self, ada, request_to_page):
        assert self.send(ada, request_to_page, value=json.dumps({"a": [1]}))
        assert request_to_page.call.result["data"] == {"a": [1]}

    def test_second_result_changes_nothing(self, ada, request_to_page):
        self.send(ada, request_to_page, value="1")

        assert not self.send(ada, request_to_page, value="2")
        assert request_to_page.call.result["data"] == 1

    def test_result_from_the_wrong_tab(self, ada, request_to_page):
        assert not self.send(ada, request_to_page, tab="two", value="1")
        assert request_to_page.call.result is None

    def test_too_large(self, ada, request_to_page):
        assert self.send(ada, request_to_page, value=json.dumps("x" * 40_000))
        assert "too large" in request_to_page.call.error

    @pytest.mark.parametrize("value", ["{", "NaN", "[" * 20_000])
    def test_result_that_cannot_be_read(self, ada, request_to_page, value):
        assert self.send(ada, request_to_page, value=value)
        assert "cannot be read" in request_to_page.call.error

    def test_result_of_nothing(self, ada):
        assert not ada.post(RESULT, {"interrupt": "x"}).json()["taken"]

    def test_too_deep(self, ada, request_to_page):
        assert self.send(ada, request_to_page, value="[" * 33 + "]" * 33)
        assert "nested too deeply" in request_to_page.call.error


class TestWithoutTab:
    def test_without_tab_gets_no_claim(self, request_to_page, browser):
        said = fields(request_to_page, tab="")

        assert browser("ada").post(CLAIM, said).json()["go"] is False

    def test_without_tab_has_no_result(self, request_to_page, browser):
        answer = browser("ada").post(RESULT, fields(request_to_page, tab="", value="1"))

        assert answer.json() == {"taken": False, "code": "no_tab"}
        request_to_page.call.refresh_from_db()
        assert request_to_page.call.result is None

    def test_without_tab_may_say_that_the_tool_is_missing(
        self, request_to_page, browser
    ):
        said = fields(request_to_page, tab="", code="missing")

        assert browser("ada").post(RESULT, said).json()["taken"] is True
