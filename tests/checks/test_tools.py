import pytest

from ai_assistant import RunContext
from ai_assistant.checks import check_assistant


def nothing(context: RunContext, amount: int = 1) -> None: ...
async def waiting(amount: int = 1) -> None: ...
def untyped(amount) -> None: ...
def anything(**amounts: int) -> None: ...
def context_last(amount: int, context: RunContext) -> None: ...
def context_keyword(*, context: RunContext) -> None: ...
def other_arguments(context: RunContext, total: int) -> None: ...
def generating():
    yield 1


async def generating_async():
    yield 1


@pytest.mark.row("D07")
def test_rounds_below_none_are_an_error(with_tool, only):
    tool = with_tool(nothing, context_rounds=-1)

    assert only() == (
        "ai_assistant.E096",
        f"{tool} has context_rounds=-1. | Give for how many messages its results are "
        "told, from 0 on, or leave it out.",
    )


@pytest.mark.row("T19")
class TestEffect:
    @pytest.mark.parametrize("effect", ["", "delete", None])
    def test_unknown_effect_is_an_error(self, with_tool, only, effect):
        tool = with_tool(nothing, effect=effect)

        assert only() == (
            "ai_assistant.E080",
            f"{tool} has the effect {effect!r}. | "
            "Use effect='read', 'ui', 'write' or 'destructive'.",
        )

    @pytest.mark.parametrize(
        "fields", [{"effect": "read"}, {"external": True}, {"rows_argument": "amount"}]
    )
    def test_effect_of_on_what_cannot_have_one_is_an_error(
        self, with_tool, only, fields
    ):
        fields = {"effect": "write", "effect_of": lambda _: "read", **fields}
        tool = with_tool(nothing, **fields)

        found, said = only()
        assert (found, tool in said) == ("ai_assistant.E095", True)

    def test_external_of_alone_is_an_error(self, with_tool, only):
        tool = with_tool(nothing, effect="write", external_of=lambda _: True)

        found, said = only()
        assert (found, tool in said) == ("ai_assistant.E095", True)


class TestName:
    @pytest.mark.parametrize("name", ["mark paid", "bestellen.über", "x" * 65])
    def test_refused_by_models(self, with_tool, only, name):
        tool = with_tool(nothing, name=name)

        assert only() == (
            "ai_assistant.E081",
            f"{tool} has a name that models reject. | Use letters, digits, '_' and "
            "'-', at most 64 of them.",
        )

    def test_usual_ones_are_fine(self, with_tool):
        with_tool(nothing, name="mark-paid_2")

        assert check_assistant() == []


class TestDocstring:
    def test_missing(self, with_tool, only):
        tool = with_tool(nothing, description=" ")

        assert only() == (
            "ai_assistant.W082",
            f"{tool} has no docstring: the model cannot know when to use it. | "
            "Say in two sentences when to use it and what it returns.",
        )


class TestArguments:
    @pytest.mark.parametrize(
        ("handler", "name"), [(untyped, "amount"), (anything, "amounts")]
    )
    def test_arguments_without_type(self, with_tool, only, handler, name):
        tool = with_tool(handler)

        assert only() == (
            "ai_assistant.E083",
            f"{tool} has an argument {name!r} without a type. | "
            "Give it a type hint, so that the model knows what to send.",
        )

    def test_arguments_without_json_form(self, with_tool):
        def strange(amount: memoryview) -> None: ...

        tool = with_tool(strange)

        (found,) = check_assistant()
        assert found.id == "ai_assistant.E083"
        assert found.msg.startswith(f"{tool} has arguments without a JSON schema: ")
        assert found.hint == (
            "Use types that pydantic supports, and import them at run time."
        )

    @pytest.mark.parametrize("handler", [context_last, context_keyword])
    def test_context_elsewhere(self, with_tool, only, handler):
        tool = with_tool(handler)

        assert only() == (
            "ai_assistant.E084",
            f"{tool} has 'context', but not as its first argument. | Make 'context: "
            "RunContext' the first argument.",
        )


class TestAsync:
    @pytest.mark.parametrize("effect", ["write", "destructive"])
    def test_async_writes(self, with_tool, only, effect):
        tool = with_tool(waiting, effect=effect)

        assert only() == (
            "ai_assistant.E085",
            f"{tool} is an 'async def' that writes: it cannot run in a transaction. | "
            "Make it a 'def', or add external=True if it writes outside the database.",
        )

    def test_async_writes_outside(self, with_tool):
        with_tool(waiting, effect="write", external=True)

        assert check_assistant() == []

    def test_async_in_the_background(self, with_tool, only):
        tool = with_tool(waiting, background=True)

        assert only() == (
            "ai_assistant.E086",
            f"{tool} is an 'async def' in the background. | "
            "Make it a 'def': it has a thread of its own, and writes there.",
        )


class TestExecution:
    def test_generator_that_writes(self, with_tool, only):
        tool = with_tool(generating, effect="write")

        assert only() == (
            "ai_assistant.E091",
            f"{tool} is a generator that writes: its results so far cannot be shown "
            "while a transaction holds them back. | Return one value, or add "
            "background=True and write in context.transaction().",
        )

    def test_async_generator_that_writes(self, with_tool, only):
        with_tool(generating_async, effect="write")

        assert only()[0] == "ai_assistant.E085"

    @pytest.mark.parametrize(
        ("handler", "how"),
        [
            (generating, {}),
            (generating_async, {}),
            (generating, {"effect": "write", "background": True}),
            (generating_async, {"effect": "write", "external": True}),
        ],
    )
    def test_other_generators_are_fine(self, with_tool, handler, how):
        with_tool(handler, **how)

        assert check_assistant() == []

    def test_no_time(self, with_tool, only):
        tool = with_tool(nothing, timeout_s=0)

        assert only() == (
            "ai_assistant.E090",
            f"{tool} has timeout_s=0. | Give more than 0 seconds, or leave it out.",
        )

    def test_resumable_in_the_foreground(self, with_tool, only):
        tool = with_tool(nothing, effect="write", resumable=True)

        assert only() == (
            "ai_assistant.E087",
            f"{tool} is resumable, but not in the background. | Add background=True, "
            "or remove resumable.",
        )


class TestPrepare:
    @pytest.mark.parametrize(
        "fields",
        [
            {"effect": "read"},
            {"effect": "write", "background": True},
            {"effect": "write", "external": True},
        ],
    )
    def test_prepare_never_called(self, with_tool, only, fields):
        tool = with_tool(nothing, prepare=nothing, **fields)

        assert only() == (
            "ai_assistant.E087",
            f"{tool} has a 'prepare' that is never called. | Leave it out: it is for a "
            "sync tool that writes, without background and external.",
        )

    def test_async(self, with_tool, only):
        tool = with_tool(nothing, effect="write", prepare=waiting)

        assert only() == (
            "ai_assistant.E087",
            f"{tool} has a 'prepare' that is an 'async def'. | "
            "Make it a 'def'; it runs in a thread.",
        )

    def test_other_arguments(self, with_tool, only):
        tool = with_tool(nothing, effect="write", prepare=other_arguments)

        assert only() == (
            "ai_assistant.E087",
            f"{tool} has a 'prepare' whose arguments differ from its own. | Give it "
            "the same: context, amount.",
        )

    def test_same_arguments(self, with_tool):
        with_tool(nothing, effect="write", prepare=nothing)

        assert check_assistant() == []


class TestPreview:
    def test_wrong_word(self, with_tool, only):
        tool = with_tool(nothing, effect="write", preview="transation")

        assert only() == (
            "ai_assistant.E144",
            f"{tool} has preview='transation'. | Give a function that returns Changes, "
            "'transaction', or leave it out.",
        )

    @pytest.mark.parametrize(
        ("handler", "fields"),
        [
            (nothing, {"external": True}),
            (nothing, {"background": True}),
            (waiting, {"external": True}),
        ],
    )
    def test_preview_cannot_be_tried_out(self, with_tool, only, handler, fields):
        tool = with_tool(handler, effect="write", preview="transaction", **fields)

        assert only() == (
            "ai_assistant.E144",
            f"{tool} has preview='transaction', but not all that it does can be "
            "rolled back. | Give it a preview of its own, or leave out external, "
            "background and async.",
        )

    def test_plain_write_is_fine(self, with_tool):
        with_tool(nothing, effect="write", preview="transaction")

        assert check_assistant() == []


class TestAllowed:
    def test_wrong_policy(self, with_tool, only):
        tool = with_tool(nothing, policy="never")

        assert only() == (
            "ai_assistant.E088",
            f"{tool} has the policy 'never'. | "
            "Use policy='allow', 'ask' or 'deny', or leave it out.",
        )

    @pytest.mark.parametrize("permission", ["change_order", "shop.", "a.b.c"])
    def test_wrong_permission(self, with_tool, only, permission):
        tool = with_tool(nothing, permission=permission)

        assert only() == (
            "ai_assistant.E089",
            f"{tool} requires the permission {permission!r}, which nobody can have. | "
            "Give it as '<app label>.<codename>', for example 'shop.change_order'.",
        )
