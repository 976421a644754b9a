"""Pages of other origins: only named ones, and only with a token."""

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from ai_assistant.safety.identity.tokens import issue

pytestmark = pytest.mark.django_db

APP, OTHER = "https://app.example", "https://evil.example"
ALLOWED = "Access-Control-Allow-Origin"
FOR_METHOD = "Access-Control-Request-Method"
FOR_HEADERS = "Access-Control-Request-Headers"


@pytest.fixture(autouse=True)
def _door(settings):
    settings.ROOT_URLCONF = "tests.web.door"
    cache.clear()


@pytest.fixture
def named(settings):
    def change(*origins):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "CORS_ORIGINS": [*origins]}

    change(APP)
    return change


@pytest.fixture
def ada():
    return get_user_model().objects.create_superuser("ada")


@pytest.fixture
def secret(ada):
    return issue(ada, "page", ["read"])[1]


def asked(origin=APP, headers="authorization,content-type", **more):
    own = {"Origin": origin, FOR_METHOD: "POST", FOR_HEADERS: headers, **more}
    return Client().options("/door/look/", headers=own)


def called(origin=APP, secret="", client=None):
    headers = {"Origin": origin}
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    return (client or Client()).get("/door/look/", headers=headers)


def cors_headers(response):
    return {name for name in response.headers if name.startswith("Access-Control")}


class TestPreflight:
    def test_named_origin_may_call(self, named):
        answer = asked()

        assert answer.status_code == 204
        assert answer[ALLOWED] == APP
        assert answer["Access-Control-Allow-Headers"] == "authorization,content-type"
        assert "POST" in answer["Access-Control-Allow-Methods"]
        assert {"Origin", FOR_METHOD, FOR_HEADERS} <= {*answer["Vary"].split(", ")}
        assert "Access-Control-Allow-Credentials" not in answer

    @pytest.mark.parametrize(
        "origin",
        [
            OTHER,
            "null",
            "http://app.example",
            "https://app.example:444",
            "https://app.example.evil.example",
            "https://APP.example",
            f"{APP}/",
            f"{APP} {OTHER}",
        ],
    )
    def test_another_may_not(self, named, origin):
        answer = asked(origin)

        assert answer.status_code == 403
        assert answer.json()["code"] == "origin"
        assert not cors_headers(answer)
        assert "Origin" in answer["Vary"]

    def test_off_by_default(self):
        assert asked().status_code == 403
        assert not cors_headers(asked())

    @pytest.mark.parametrize("names", ["x\ty", "a,,b", "é", "x" * 61, "a;b"])
    def test_odd_names_of_headers_are_not_granted(self, named, names):
        answer = asked(headers=names)

        assert answer[ALLOWED] == APP
        assert "Access-Control-Allow-Headers" not in answer

    def test_plain_options_is_none(self, named, secret):
        headers = {"Origin": APP, "Authorization": f"Bearer {secret}"}

        assert Client().options("/door/look/", headers=headers).status_code == 200


class TestAnswer:
    def test_answer_is_read_with_a_token(self, named, secret):
        answer = called(secret=secret)

        assert answer.status_code == 200
        assert answer[ALLOWED] == APP
        assert "Retry-After" in answer["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in answer
        assert "Origin" in answer["Vary"]

    def test_pattern_names_many(self, named, secret):
        named("https://*.app.example")

        assert (
            called("https://a.app.example", secret)[ALLOWED] == "https://a.app.example"
        )
        assert ALLOWED not in called("https://aapp.example", secret)

    def test_answer_is_not_read_by_another(self, named, secret):
        answer = called(OTHER, secret)

        assert not cors_headers(answer)
        assert "Origin" in answer["Vary"]

    def test_answer_is_not_read_with_a_session(self, named, ada):
        client = Client()
        client.force_login(ada)

        answer = called(client=client)

        assert answer.status_code == 200
        assert not cors_headers(answer)
        assert "Origin" in answer["Vary"]

    def test_token_beside_a_session_counts(self, named, secret):
        client = Client()
        client.force_login(get_user_model().objects.create_superuser("eve"))

        answer = called(secret=secret, client=client)

        assert answer.json()["user"] == "ada"
        assert answer[ALLOWED] == APP

    @pytest.mark.parametrize("secret", ["", "aia_unknown"])
    def test_refusal_to_sign_in_is_read(self, named, secret):
        answer = called(secret=secret)

        assert answer.status_code == 401
        assert answer[ALLOWED] == APP

    def test_off_by_default(self, secret):
        answer = called(secret=secret)

        assert not cors_headers(answer)
        assert "Origin" not in answer.get("Vary", "")

    def test_own_pages_have_none(self, named, ada):
        """Only the doors for programs ask for it."""
        client = Client()
        client.force_login(ada)

        for address in ("/assistant/", "/assistant/health/", "/admin/"):
            answer = client.get(address, headers={"Origin": APP})
            assert not cors_headers(answer)
