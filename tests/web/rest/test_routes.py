import pytest

from ai_assistant.routing import _outlives_its_browser
from ai_assistant.web.rest.routes import urlpatterns


def test_no_view_lies_in_a_transaction_of_the_site():
    for pattern in urlpatterns:
        assert "default" in pattern.callback._non_atomic_requests, pattern


def test_no_view_is_behind_the_login_of_the_site():
    for pattern in urlpatterns:
        assert pattern.callback.login_required is False, pattern


@pytest.mark.parametrize(
    ("method", "path", "outlives"),
    [
        ("POST", "/assistant/api/runs/", True),
        ("POST", "/assistant/api/runs/1/stop/", True),
        ("GET", "/assistant/api/runs/", False),
        ("POST", "/assistant/apis/", False),
        ("POST", "/shop/api/runs/", False),
    ],
)
def test_posts_outlive_their_client(method, path, outlives):
    scope = {"type": "http", "method": method, "path": path, "headers": []}

    assert _outlives_its_browser(scope) is outlives
