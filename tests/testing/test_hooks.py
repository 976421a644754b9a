"""One hook is tried without a run, and two runs through it are kept apart."""

import pytest

import ai_assistant
from ai_assistant.exceptions import NotRegistered
from ai_assistant.hooks import AnswerGiven, NextRound, Refuse, RunEnded, ToolRequested
from ai_assistant.registry import registry
from ai_assistant.testing import assert_runs_apart, play_hook


@pytest.fixture(autouse=True)
def _own_hooks():
    with registry.restored():
        yield


def publish(**arguments):
    return ToolRequested(name="publish", arguments=arguments)


@pytest.mark.row("E02")
class TestOneHook:
    def test_what_it_returns(self):
        @ai_assistant.hook("before_tool")
        def small(context, asked):
            if asked.arguments["id"] > 9:
                return Refuse("That is too large.")
            return {"id": asked.arguments["id"] + 1}

        assert play_hook(small, publish(id=1)).value.arguments == {"id": 2}
        assert play_hook("small", publish(id=10)).refused == "That is too large."

    def test_who_asks_and_what_is_kept(self):
        @ai_assistant.hook("run_finished")
        async def again(context, ended):
            context.state["rounds"] += 1
            context.state["who"] = [context.user, context.page.path, context.module]
            return NextRound(to="self", text="Once more.")

        played = play_hook(
            again,
            RunEnded(state="succeeded"),
            user="ada",
            path="/shop/",
            module="shop",
            state={"rounds": 1},
        )

        assert played.state == {"rounds": 2, "who": ["ada", "/shop/", "shop"]}
        assert played.next_round == NextRound(to="self", text="Once more.")

    def test_a_failure_is_raised_or_returned(self):
        @ai_assistant.hook("response_complete")
        def broken(context, given):
            return given.no_such_thing

        given = AnswerGiven(text="Hi.", message_id="1")

        with pytest.raises(AssertionError, match="Hook 'broken' failed: AttributeErr"):
            play_hook(broken, given)
        assert "no_such_thing" in play_hook(broken, given, raises=False).error

    def test_one_that_is_not_registered(self):
        with pytest.raises(NotRegistered, match="Hook 'nobody' is not registered"):
            play_hook("nobody", publish())

    def test_reads_the_rows_of_the_test(self, db, django_user_model):
        """In the thread of the test, which is in a transaction."""
        django_user_model.objects.create_user("ada")

        @ai_assistant.hook("before_tool")
        def counts(context, asked):
            return {"n": django_user_model.objects.count()}

        assert play_hook(counts, publish()).value.arguments == {"n": 1}


@pytest.mark.row("H11")
class TestApart:
    def test_one_that_keeps_all_in_its_state(self):
        @ai_assistant.hook("before_tool")
        def counts(context, asked):
            context.state["n"] = context.state.get("n", 0) + 1
            return {"n": context.state["n"]}

        assert_runs_apart(counts, [publish(a=1), publish(a=2)], [publish(a=3)])

    @pytest.mark.parametrize("way", ["count", "last"])
    def test_one_that_keeps_something_beside_it(self, way):
        seen = []

        @ai_assistant.hook("before_tool")
        def leaks(context, asked):
            seen.append(asked.arguments["a"])
            return {"n": len(seen) if way == "count" else seen[-2:]}

        with pytest.raises(AssertionError, match="'leaks' does not keep runs apart"):
            assert_runs_apart(leaks, [publish(a=1), publish(a=2)], [publish(a=3)])
