import pytest

from ai_assistant.checks import check_assistant

OWN = "ai_assistant.web.middleware.AssistantMiddleware"


class OtherMiddleware:
    """A middleware that is not ours and stands first."""


@pytest.fixture
def installed(settings):
    """Install other apps for the test, and forget what is made of them."""

    def change(names):
        settings.INSTALLED_APPS = names

    return change


class TestApps:
    def test_no_daphne(self, installed, without, only):
        installed(without("daphne"))

        assert only() == (
            "ai_assistant.W021",
            "INSTALLED_APPS has no 'daphne': `runserver` serves WSGI, without sockets "
            "and without executing runs. | Add 'daphne' as the first app, or silence "
            "this check if another ASGI server serves the site, in development too.",
        )

    def test_no_admin(self, installed, without):
        installed(without("django.contrib.admin"))

        found = check_assistant()[0]
        assert (found.id, found.msg, found.hint) == (
            "ai_assistant.E020",
            "INSTALLED_APPS has no 'django.contrib.admin'.",
            "Add it: the panel's pages extend the admin's.",
        )

    def test_apps_channels_first(self, installed, without, only):
        installed(["channels", *without("channels")])

        assert only() == (
            "ai_assistant.W022",
            "'channels' comes before 'ai_assistant' in INSTALLED_APPS: `runworker` is "
            "then Channels' own, which executes no runs. | Move 'ai_assistant' before "
            "'channels'.",
        )

    def test_apps_channels_need_not_be_installed(self, installed, without):
        installed(without("channels"))

        assert check_assistant() == []


class TestMiddleware:
    @pytest.fixture
    def others(self, settings):
        return [path for path in settings.MIDDLEWARE if path != OWN]

    def test_one_whose_module_fails(self, settings, tmp_path, monkeypatch):
        (tmp_path / "failing_middleware.py").write_text("1 / 0")
        monkeypatch.syspath_prepend(tmp_path)
        settings.MIDDLEWARE = ["failing_middleware.Any", *settings.MIDDLEWARE]

        assert check_assistant() == []

    def test_missing(self, settings, others, only):
        settings.MIDDLEWARE = others

        assert only() == (
            "ai_assistant.E026",
            f"MIDDLEWARE has no {OWN!r}: no page has the panel. | "
            "Add it after 'django.contrib.auth.middleware.AuthenticationMiddleware'.",
        )

    @pytest.mark.parametrize(
        ("before", "reason"),
        [
            (
                "django.middleware.gzip.GZipMiddleware",
                "otherwise it sees compressed pages",
            ),
            (
                "django.middleware.csrf.CsrfViewMiddleware",
                "otherwise the panel's forms have no valid token",
            ),
            (
                "django.contrib.auth.middleware.AuthenticationMiddleware",
                "otherwise the user is not known",
            ),
        ],
    )
    def test_order(self, settings, others, before, reason):
        at = others.index(before)
        settings.MIDDLEWARE = [*others[:at], OWN, *others[at:]]

        (found,) = [
            message for message in check_assistant() if f"{before!r}" in message.msg
        ]
        assert found.id == "ai_assistant.E027"
        assert found.msg == f"{OWN!r} comes before {before!r} in MIDDLEWARE."
        assert found.hint.startswith(f"Move it after that one: {reason}")

    def test_others_may_come_first(self, settings):
        settings.MIDDLEWARE = [
            f"{__name__}.OtherMiddleware",
            "no.such.Middleware",
            *settings.MIDDLEWARE,
        ]

        assert "E027" not in "".join(message.id for message in check_assistant())


class TestAddresses:
    def test_addresses_not_included(self, settings, only):
        settings.ROOT_URLCONF = "tests.checks.urls_admin"

        assert only() == (
            "ai_assistant.E028",
            "The URLconf does not include 'ai_assistant.urls'. | "
            "Add path('assistant/', include('ai_assistant.urls')) to urlpatterns.",
        )

    def test_no_sign_in(self, settings, only):
        settings.ROOT_URLCONF = "tests.checks.urls_assistant"

        assert only() == (
            "ai_assistant.E029",
            "The URLconf has no URL named 'admin:login', where people sign in. | Add "
            "path('admin/', admin.site.urls) to urlpatterns.",
        )
