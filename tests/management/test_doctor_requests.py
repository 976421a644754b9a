"""The doctor says what is around a write, what is not, and why."""

from contextlib import contextmanager

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpResponse
from django.utils.decorators import async_only_middleware

from tests.management.test_doctor import doctor

pytestmark = pytest.mark.django_db

HERE = "tests.management.test_doctor_requests"


class Passed:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)


class Refusing(Passed):
    def __call__(self, request):
        return HttpResponse("no", status=403)


class Failing(Passed):
    def __call__(self, request):
        raise LookupError("no host")


@async_only_middleware
def awaited(get_response):
    return get_response


def not_used(get_response):
    raise MiddlewareNotUsed


def broken(get_response):
    raise LookupError("no host")


@contextmanager
def audited(request, run):
    yield


@contextmanager
def failing(request, run):
    raise LookupError("no host")
    yield


@pytest.fixture
def site(settings):
    """Put middlewares of this module into MIDDLEWARE, and some of them around writes."""

    def change(*installed, named=(), **data):
        settings.MIDDLEWARE = [f"{HERE}.{name}" for name in installed]
        own = {"MIDDLEWARE": [f"{HERE}.{name}" for name in named], **data}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": own}
        get_user_model().objects.create_superuser("ada")

    return change


def line():
    (found,) = (one for one in doctor()[1].splitlines() if one.startswith("around"))
    return found.removeprefix("around a write ")


def problem():
    _, _, told = doctor()[1].partition("\ndoctor.request: ")
    return told.splitlines()[0] if told else ""


def test_of_the_site_of_the_tests():
    assert line().startswith("nothing of the site; without ")
    assert "AuthenticationMiddleware" in line()
    assert " (a request of a tool has its own)" in line()
    assert problem() == ""


def test_what_is_passed_and_what_is_not(site):
    names = ["awaited", "not_used", "Passed"]
    site(*names, "Refusing", named=names, REQUEST_CONTEXT=f"{HERE}.audited")

    assert line() == (
        f"{HERE}.Passed, {HERE}.audited (REQUEST_CONTEXT); "
        f"without {HERE}.awaited (async only); "
        f"without {HERE}.not_used (raises MiddlewareNotUsed); "
        f"without {HERE}.Refusing (not in DATA['MIDDLEWARE'])"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Refusing", "a middleware answers by itself"),
        ("Failing", "LookupError: no host"),
    ],
)
def test_middleware_that_lets_no_request_pass(site, name, said):
    site(name, named=[name])

    assert problem() == (
        "A request of a tool does not get through what the site puts around it: "
        f"{said}. That is: {HERE}.{name}."
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [("broken", "fails with LookupError"), ("nothing", "cannot be imported")],
)
def test_middleware_that_cannot_be_made(site, name, reason):
    site(name, named=[name])

    assert problem().endswith(
        f" That is: nothing of the site; without {HERE}.{name} ({reason})."
    )


def test_context_that_lets_no_request_pass(site):
    site(REQUEST_CONTEXT=f"{HERE}.failing")

    assert "puts around it: LookupError: no host." in problem()
