from typing import ClassVar

import pytest

from ai_assistant import ContextModule, conf, register
from ai_assistant.checks import check_assistant
from ai_assistant.registry import registry

pytestmark = pytest.mark.row("Y06")


@pytest.fixture
def opt_in(settings):
    settings.ROOT_URLCONF = "tests.tools.api.site"

    def choose(*patterns):
        own = {"API_OPERATIONS": list(patterns)}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)

    return choose


def test_nothing_is_wrong(opt_in):
    opt_in("books.*", "!books.destroy", "trap.get")

    assert check_assistant() == []


@pytest.mark.parametrize(
    ("pattern", "check_id", "said"),
    [
        ("boks.list", "W190", "has 'boks.list', which matches no operation"),
        ("!boks.*", "W190", "has '!boks.*'"),
        ("purging.*", "W191", "opts in 'purging.purge' by 'purging.*'"),
        ("key.post", "W192", "names 'key.post', which the assistant never calls"),
    ],
)
def test_what_cannot_be_called(opt_in, only, pattern, check_id, said):
    opt_in(pattern)

    own_id, text = only()

    assert own_id == f"ai_assistant.{check_id}"
    assert said in text


def test_module_that_chooses_what_is_not_opted_in(opt_in):
    class TeamsModule(ContextModule):
        api_operations: ClassVar = ["tags.*", "books.lst", "!books.destroy"]

    opt_in("books.*")
    with registry.restored():
        register(TeamsModule)
        found = [(one.id, one.msg) for one in check_assistant()]

    assert [one for one, _text in found] == ["ai_assistant.W193"] * 2
    assert "chooses 'tags.*', which matches no operation" in found[0][1]
    assert "chooses 'books.lst'" in found[1][1]
