"""What a tool is given."""

import uuid
from contextlib import nullcontext

import pytest

from ai_assistant import RunContext
from ai_assistant.types import CallActions, ModelRequest


@pytest.fixture
def make():
    def context(**fields):
        return RunContext(
            user=None, run_id=uuid.uuid4(), conversation_id=uuid.uuid4(), **fields
        )

    return context


class TestProgress:
    @pytest.mark.parametrize(
        ("said", "told"), [(0.5, 0.5), (-1, 0.0), (2, 1.0), (1, 1.0)]
    )
    def test_progress_is_from_zero_to_one(self, make, said, told):
        reports = []

        actions = CallActions(progress=lambda *report: reports.append(report))
        make(actions=actions).progress(said, "half")

        assert reports == [(told, "half")]

    def test_progress_of_a_tool_that_is_not_long(self, make):
        make().progress(0.5)


class TestTransaction:
    def test_transaction_of_a_tool_that_is_not_long(self, make):
        with pytest.raises(RuntimeError, match=r"register it with background=True\.$"):
            make().transaction()

    def test_transaction_passes_the_mark_on(self, make):
        marks = []

        def opened(mark):
            marks.append(mark)
            return nullcontext()

        with make(actions=CallActions(transaction=opened)).transaction({"at": 3}):
            pass

        assert marks == [{"at": 3}]


class TestModelRequest:
    def test_key_is_not_shown(self):
        request = ModelRequest(model="m", messages=[], api_key="secret")

        assert "secret" not in repr(request)
