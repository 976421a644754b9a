import pytest

from ai_assistant import conf
from ai_assistant.checks import check_assistant

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
