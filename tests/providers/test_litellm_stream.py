"""A stream that is iterated once stays a stream in everything else."""

import copy

import pytest

from ai_assistant.providers.litellm_stream import OnceIterated


class Source:
    closed = False

    def __aiter__(self):
        raise AssertionError

    async def close(self):
        self.closed = True


async def test_all_else_is_passed_on():
    source = Source()
    once = OnceIterated(source, iter(()))

    await once.close()

    assert source.closed
    assert not hasattr(once, "aclose")
    assert aiter(once) is once


def test_can_be_copied():
    once = copy.copy(OnceIterated(Source(), iter(())))

    with pytest.raises(AttributeError):
        _ = once.nothing
