"""Suggestions of rows and of code, by page and person; slow code delays nobody."""

import threading

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError

import ai_assistant
from ai_assistant import Suggestion, models
from ai_assistant.configuration.suggested import suggested
from ai_assistant.registry import registry

USERS, GROUPS = "/admin/auth/user/", "/admin/auth/group/"


@pytest.fixture(autouse=True)
def _nothing_kept():
    cache.clear()
    registry._registry = {
        key: part for key, part in registry._registry.items() if key[0] != "suggestion"
    }


def labels(context):
    return [one.label for one in suggested(context)]


@pytest.mark.row("S01")
class TestCode:
    def test_function_suggests_where_it_applies(self, context_of):
        @ai_assistant.suggestions(model="auth.user")
        def who(context):
            return [f"Who is {context.user}?", Suggestion(label="Groups", path=GROUPS)]

        assert suggested(context_of(USERS)) == [
            Suggestion(label="Who is ada?"),
            Suggestion(label="Groups", path=GROUPS),
        ]
        assert suggested(context_of(GROUPS)) == []

    @pytest.mark.row("S03")
    def test_what_it_returns_is_kept_for_a_page(self, context_of):
        asked = []

        @ai_assistant.suggestions()
        def often(context):
            asked.append(context.page.path)
            return ["x"]

        for path in (USERS, USERS, GROUPS):
            assert labels(context_of(path)) == ["x"]
        assert asked == [USERS, GROUPS]

    def test_what_is_kept_is_of_one_tenant(self, context_of, monkeypatch):
        context, database = context_of(USERS), settings.DATABASES["default"]
        named = iter("ab")
        ai_assistant.suggestions(name="some")(lambda context: next(named))

        for tenant, label in (("acme", "a"), ("beta", "b"), ("acme", "a")):
            monkeypatch.setitem(database, "TENANT", tenant)
            assert labels(context) == [label]

    @pytest.mark.parametrize("value", [None, [], ["a"], ("a", "b"), iter("ab")])
    def test_what_it_may_return(self, context_of, value):
        ai_assistant.suggestions(name="some")(lambda context: value)

        assert labels(context_of()) in ([], ["a"], ["a", "b"])

    def test_one_that_fails_takes_no_other_along(self, context_of, caplog):
        ai_assistant.suggestions(name="broken")(lambda context: [{"label": "x"}])
        ai_assistant.suggestions(name="fine")(lambda context: ["x"])

        assert labels(context_of()) == ["x"]
        assert "suggestions 'broken' failed" in caplog.text

    def test_one_that_hangs_is_given_up(self, context_of, caplog):
        go_on = threading.Event()
        ai_assistant.suggestions(name="slow", timeout_s=0.05)(
            lambda context: go_on.wait(10) and ["late"]
        )
        ai_assistant.suggestions(name="fine")(lambda context: ["x"])
        try:
            assert labels(context_of()) == ["x"]
        finally:
            go_on.set()
        assert "suggestions 'slow' took too long" in caplog.text

    def test_no_flood(self, context_of):
        ai_assistant.suggestions(name="many")(lambda context: map(str, range(10**6)))

        assert len(labels(context_of())) <= 8


class TestRows:
    def test_row_adds_and_takes_the_place_of_code(self, context_of):
        ai_assistant.suggestions(name="mine")(lambda context: ["by code"])
        models.Suggestion.objects.create(
            name="other", label="By row", model="auth.user"
        )
        assert labels(context_of(USERS)) == ["By row", "by code"]

        models.Suggestion.objects.create(name="mine", label="x", is_active=False)
        assert labels(context_of(USERS)) == ["By row"]
        assert labels(context_of(GROUPS)) == []

    @pytest.mark.parametrize(
        "path", ["https://evil.example/", "//evil", "/\\evil", "x"]
    )
    def test_path_leads_nowhere_else(self, db, path):
        with pytest.raises(ValidationError, match="is no page of this site"):
            models.Suggestion.objects.create(name="a", label="a", path=path)
