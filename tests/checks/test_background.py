import pytest
from celery import current_app

from ai_assistant.checks import check_assistant

BROKER = "redis://127.0.0.1:1/0"


@pytest.fixture
def celery(request):
    """Change settings of the Celery app."""

    def change(**values):
        for name, value in values.items():
            before = getattr(current_app.conf, name)
            request.addfinalizer(
                lambda name=name, before=before: setattr(current_app.conf, name, before)
            )
            setattr(current_app.conf, name, value)

    return change


@pytest.fixture
def no_celery(monkeypatch):
    monkeypatch.setattr("ai_assistant.checks.deployment.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_celery")
class TestPackage:
    def test_asked_for(self, assistant, only):
        assistant(BACKGROUND="celery")

        assert only() == (
            "ai_assistant.E050",
            "AI_ASSISTANT['BACKGROUND'] is 'celery', but the package 'celery' is not "
            "installed. | Install it: pip install 'ai-assistant[celery]'.",
        )

    def test_broker_without_it(self, settings, only):
        settings.CELERY_BROKER_URL = BROKER

        assert only() == (
            "ai_assistant.W052",
            "CELERY_BROKER_URL is set, but the package 'celery' is not installed: long "
            "tools run in threads of the web process. | Install it: pip install "
            "'ai-assistant[celery]'. Or set AI_ASSISTANT['BACKGROUND'] to 'threads'.",
        )

    def test_package_not_needed_for_threads(self, settings, assistant):
        settings.CELERY_BROKER_URL = BROKER
        assistant(BACKGROUND="threads")

        assert check_assistant() == []


class TestBroker:
    def test_missing(self, assistant, celery, only):
        celery(broker_url=None, broker_write_url=None)
        assistant(BACKGROUND="celery")

        assert only() == (
            "ai_assistant.E051",
            "Long tools go to Celery, but the current Celery app has no broker. | "
            "Set CELERY_BROKER_URL, and import the site's Celery app in the "
            "__init__.py of the project, so that tasks find it.",
        )

    @pytest.mark.parametrize(
        ("options", "shown"), [({"visibility_timeout": 60}, 60), ({}, 3600)]
    )
    def test_broker_delivers_too_soon(self, settings, celery, only, options, shown):
        settings.CELERY_BROKER_URL = BROKER
        celery(
            broker_write_url=BROKER,
            task_time_limit=4000,
            broker_transport_options=options,
        )

        assert only() == (
            "ai_assistant.W053",
            f"The broker delivers a message again after {shown} s, but a task may "
            "take 4000 s: it arrives while its call is still being executed. | Set "
            "CELERY_BROKER_TRANSPORT_OPTIONS['visibility_timeout'] to at least "
            "CELERY_TASK_TIME_LIMIT plus one minute.",
        )

    def test_broker_delivers_soon_and_a_task_has_no_limit(self, settings, celery, only):
        settings.CELERY_BROKER_URL = BROKER
        celery(
            broker_write_url=BROKER,
            task_time_limit=None,
            broker_transport_options={"visibility_timeout": 4},
        )

        name, said = only()

        assert name == "ai_assistant.W053"
        assert "after 4 s, but a task has no time limit" in said

    def test_no_limit_and_the_time_that_the_broker_takes_by_itself(
        self, settings, celery
    ):
        settings.CELERY_BROKER_URL = BROKER
        celery(broker_write_url=BROKER, task_time_limit=None)

        assert check_assistant() == []

    def test_broker_waits_long_enough(self, settings, celery):
        settings.CELERY_BROKER_URL = BROKER
        celery(
            broker_write_url=BROKER,
            task_time_limit=600,
            broker_transport_options={"visibility_timeout": 660},
        )

        assert check_assistant() == []
