import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from ai_assistant.changes.capture.files import FOLDER
from ai_assistant.configuration.registered import KINDS
from ai_assistant.engine.execution.presence import say_present
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import ModelError
from ai_assistant.models import Agent, Conversation, Run
from ai_assistant.models.clock import Now
from ai_assistant.models.module import Module
from ai_assistant.registry import registry
from ai_assistant.types import Provider, ReplyEnd, TextDelta, ToolCallDelta, Usage

pytestmark = pytest.mark.django_db

REFUSED = "redis://127.0.0.1:1/0"


def doctor(*arguments):
    """Return the exit code and what was written."""
    out = StringIO()
    try:
        call_command("assistant_doctor", *arguments, stdout=out)
    except SystemExit as left:
        return left.code, out.getvalue()
    return 0, out.getvalue()


def told():
    code, text = doctor("--json")
    return code, json.loads(text)


@pytest.fixture
def profile(settings):
    def change(**fields):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "PROFILES": {"default": fields},
        }

    return change


@pytest.mark.row("C11")
class TestJSON:
    def test_site_of_the_demo(self):
        code, found = told()

        registered = {kind: [] for kind in KINDS} | {
            "tools": sorted(registry.tools()),
            "context": sorted(registry.contexts()),
            "modules": sorted(registry.modules()),
            "commands": sorted(registry.parts("command")),
            "skills": ["refund"],
            "hooks": ["office_hours"],
            "agents": ["analyst", "proofreader"],
            "instructions": sorted(registry.parts("instruction")),
            "suggestions": sorted(
                {
                    *(
                        str(s)
                        for m in registry.modules().values()
                        for s in m.suggestions
                    ),
                    "of-a-questionnaire",
                }
            ),
        }
        assert code == 0
        assert found == {"ok": True, "problems": [], "registered": registered}

    def test_kinds(self):
        _, found = told()

        assert list(found["registered"]) == [
            "context",
            "tools",
            "commands",
            "skills",
            "hooks",
            "modules",
            "suggestions",
            "instructions",
            "agents",
            "operations",
        ]

    def test_problem_says_what_to_do(self, settings):
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "no_layer.Layer"}}

        code, found = told()

        assert code == 1
        assert found["ok"] is False
        assert found["problems"][0] == (
            "ai_assistant.E041: CHANNEL_LAYERS['default'] names 'no_layer.Layer', which "
            "cannot be imported: No module named 'no_layer' Correct the path, or: pip "
            "install 'ai-assistant[redis]'."
        )


class TestText:
    def test_site_of_the_demo(self):
        code, text = doctor()

        assert code == 0
        assert f"database       {connection.vendor}, the assistant's tables" in text
        assert "\nskills         refund\n" in text
        assert "rename_section" in text
        assert text.endswith("\nA chat can work.\n")

    def test_problem(self, settings):
        settings.AI_ASSISTANT = {}

        code, text = doctor()

        assert code == 1
        assert "doctor.off: The assistant is switched off.\n" in text
        assert '    Set AI_ASSISTANT = {"ENABLED": True}.\n' in text
        assert text.endswith(
            "A chat cannot work: 1 of the problems above prevents it.\n"
        )

    def test_several_problems(self, settings):
        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "no_layer.Layer"}}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLICY": {"x": "maybe"}}

        _, text = doctor()

        assert "3 of the problems above prevent it." in text

    def test_warning_keeps_no_chat_from_working(self, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "POLICY": {"no_such_tool": "deny"},
        }

        code, text = doctor()

        assert code == 0
        assert "ai_assistant.W071" in text
        assert text.endswith("A chat can work; see the problems above.\n")

    def test_silenced_is_not_told(self, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "POLICY": {"no_such_tool": "deny"},
        }
        settings.SILENCED_SYSTEM_CHECKS = ["ai_assistant.W071"]

        assert "W071" not in doctor()[1]

    def test_unknown_setting(self, settings):
        settings.AI_ASSISTANT = {"ENABLE": True}

        code, text = doctor()

        assert code == 1
        assert "ai_assistant.E002" in text


class TestModel:
    @pytest.fixture(autouse=True)
    def no_keys(self, monkeypatch):
        monkeypatch.delenv("MY_KEY", raising=False)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    @pytest.mark.row("V02")
    def test_missing(self, profile):
        profile()

        code, found = told()

        assert code == 1
        assert found["problems"][0].startswith("ai_assistant.W011")

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            (
                {"MODEL": "openai/gpt-4o-mini"},
                "window of 128,000 tokens; price of litellm's list",
            ),
            ({"MODEL": "openai/our-own"}, "window not known; price not known"),
            (
                {
                    "MODEL": "openai/our-own",
                    "INPUT_USD_PER_MTOK": 1,
                    "OUTPUT_USD_PER_MTOK": 2,
                },
                "window not known; price of the profile",
            ),
        ],
    )
    def test_what_is_known(self, profile, fields, told):
        profile(API_KEY="x", **fields)

        assert f"\nwindow, price  {told}\n" in doctor()[1]

    @pytest.mark.parametrize(
        ("provider", "named"),
        [
            ("", "openai_compatible"),
            ("direct", "openai_compatible"),
            ("litellm", "LiteLLM"),
        ],
    )
    def test_model_says_who_calls(self, profile, provider, named):
        profile(MODEL="openai/x", API_KEY="x", PROVIDER=provider)

        (line,) = (one for one in doctor()[1].splitlines() if one.startswith("model "))

        assert named in line

    @pytest.mark.row("V02")
    def test_key_missing(self, profile):
        profile(MODEL="openai/x", API_KEY_ENV="MY_KEY")

        code, text = doctor()

        assert code == 1
        assert "key present: no" in text
        assert "'MY_KEY'" in text

    def test_own_server_may_need_no_key(self, profile):
        profile(MODEL="openai/x", API_KEY_ENV="MY_KEY", API_BASE="http://127.0.0.1:1")

        code, text = doctor()

        assert code == 0
        assert "ai_assistant.W014" in text

    def test_key_is_never_shown(self, profile, monkeypatch):
        monkeypatch.setenv("MY_KEY", "sk-secret")
        profile(MODEL="openai/x", API_KEY_ENV="MY_KEY")

        code, text = doctor()

        assert code == 0
        assert "key present: yes, not tried" in text
        assert "A chat can work" not in text
        assert "`assistant_doctor --try` makes one call." in text
        assert "sk-secret" not in text


class Answers(Provider):
    """A model that answers, or fails as its profile says."""

    async def stream(self, request):
        if code := self.profile.get("FAILS"):
            raise ModelError(code, "of sk-secret")
        yield TextDelta(text="OK")
        for tool in request.tools:
            yield ToolCallDelta(index=0, name=tool["function"]["name"])
        yield ReplyEnd(finish_reason="stop", usage=Usage())


class TestTry:
    def test_one_call_says_that_a_chat_can_work(self, profile, monkeypatch):
        monkeypatch.setenv("MY_KEY", "sk-secret")
        profile(MODEL="x", API_KEY_ENV="MY_KEY", PROVIDER=f"{__name__}.Answers")

        code, text = doctor("--try")

        assert code == 0
        assert re.search(r"tried +it answered in 0\.\d s: OK", text)
        assert text.endswith("A chat can work.\n")

    def test_call_that_fails_says_why(self, profile, monkeypatch):
        monkeypatch.setenv("MY_KEY", "sk-secret")
        own = {"PROVIDER": f"{__name__}.Answers", "FAILS": "bad_key"}
        profile(MODEL="x", API_KEY_ENV="MY_KEY", **own)

        code, text = doctor("--try")

        assert code == 1
        assert "doctor.try: The model did not answer: bad_key" in text
        assert "The provider refused the key." in text

    def test_nothing_is_called_unasked(self, profile):
        own = {"PROVIDER": f"{__name__}.Answers", "FAILS": "bad_key"}
        profile(MODEL="x", **own)

        code, text = doctor()

        assert code == 0
        assert text.endswith("A chat can work.\n")


@pytest.mark.row("V08")
class TestFallbacks:
    @pytest.fixture
    def profiles(self, settings):
        """Give profiles by name, each a dict; the default one has a fallback."""

        def use(**named):
            own = {"MODEL": "x", "PROVIDER": f"{__name__}.Answers"}
            told = {name: {**own, **profile} for name, profile in named.items()}
            settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": told}

        return use

    def test_each_profile_is_told_with_its_own(self, profiles):
        profiles(default={"FALLBACK": "other"}, other={})

        code, text = doctor()

        assert code == 0
        assert re.search(r"fallbacks +default: other; other: none\n", text)

    def test_one_that_is_missing(self, profiles):
        profiles(default={"FALLBACK": "gone"}, other={})

        code, text = doctor()

        assert code == 1  # the system check is an error
        assert "doctor.fallback: The fallback of profile 'default' is 'gone'" in text
        assert "Name one of ['other'] as its FALLBACK." in text

    @pytest.mark.parametrize(
        ("named", "circle"),
        [
            ({"other": "default"}, "default → other → default"),
            ({"other": "third", "third": "other"}, "other → third → other"),
        ],
    )
    def test_circle_is_a_warning(self, profiles, named, circle):
        others = {name: {"FALLBACK": other} for name, other in named.items()}
        profiles(default={"FALLBACK": "other"}, **others)

        code, text = doctor()

        assert code == 0
        assert f"go in a circle: {circle}. Each is asked once" in text

    def test_both_are_tried(self, profiles):
        profiles(default={"FALLBACK": "other"}, other={})

        code, text = doctor("--try")

        said = (
            r"it answered in 0\.\d s: OK; its fallback 'other' answered in 0\.\d s: OK"
        )
        assert code == 0
        assert re.search(said, text)

    def test_says_which_answers_if_the_first_does_not(self, profiles):
        profiles(default={"FALLBACK": "other", "FAILS": "provider_down"}, other={})

        code, text = doctor("--try")

        assert code == 0  # chats work
        assert "The model did not answer: provider_down" in text
        assert "Profile 'other' answers in its place." in text

    def test_says_that_the_second_would_not(self, profiles):
        profiles(default={"FALLBACK": "other"}, other={"FAILS": "bad_key"})

        code, text = doctor("--try")

        assert code == 0
        assert "The model of the fallback 'other' did not answer: bad_key" in text
        assert "in its place" not in text

    def test_blocks_if_none_answers(self, profiles):
        down = {"FAILS": "provider_down"}
        profiles(default={"FALLBACK": "other", **down}, other={"FAILS": "bad_key"})

        code, text = doctor("--try")

        assert code == 1
        assert "provider_down" in text
        assert "bad_key" in text

    def test_in_a_circle_each_is_tried_once(self, profiles):
        down = {"FAILS": "provider_down"}
        profiles(
            default={"FALLBACK": "other", **down}, other={"FALLBACK": "default", **down}
        )

        _code, text = doctor("--try")

        (line,) = (line for line in text.splitlines() if line.startswith("tried"))
        assert line.count("did not answer") == 2


class TestDatabase:
    def test_database_does_not_answer(self, monkeypatch):
        def refuse(self):
            raise OperationalError("no route to host")

        monkeypatch.setattr(
            "ai_assistant.management.doctor_services.MigrationExecutor", refuse
        )

        code, text = doctor()

        assert code == 1
        assert (
            "doctor.database: The database does not answer: OperationalError." in text
        )

    def test_database_not_migrated(self, settings):
        recorder = MigrationRecorder(connection)
        for name in recorder.migration_qs.filter(app="ai_assistant").values_list(
            "name", flat=True
        ):
            recorder.record_unapplied("ai_assistant", name)

        code, text = doctor()

        assert code == 1
        assert "not applied, first 'ai_assistant.0001_initial'." in text
        assert "Run `python manage.py migrate`." in text

    def test_made_by_migrations_that_are_gone(self, settings):
        MigrationRecorder(connection).record_applied("ai_assistant", "0002_gone")

        code, text = doctor()

        assert code == 1
        assert "were made by 'ai_assistant.0002_gone', which no longer" in text

    def test_made_by_an_earlier_edition_of_a_migration(self, settings):
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE ai_assistant_run DROP COLUMN wish")

        code, text = doctor()

        assert code == 1
        assert "lack 'ai_assistant_run.wish': an earlier '0001_initial' made" in text


class TestLayer:
    def test_layer_does_not_answer(self, settings):
        settings.CHANNEL_LAYERS = {
            "default": {
                "BACKEND": "channels_redis.core.RedisChannelLayer",
                "CONFIG": {"hosts": [REFUSED]},
            }
        }

        code, text = doctor()

        assert code == 1
        assert "doctor.layer: The channel layer does not answer: " in text


class TestOldFiles:
    def test_kept_outside_of_what_is_served(self, settings, tmp_path):
        settings.MEDIA_ROOT = str(tmp_path / "media")

        _, text = doctor()

        assert str(tmp_path / FOLDER) in text
        assert [*tmp_path.iterdir()] == []

    def test_storage_that_takes_nothing(self, settings, tmp_path):
        (tmp_path / "taken").write_text("")
        settings.MEDIA_ROOT = str(tmp_path / "taken" / "media")

        code, text = doctor()

        assert code == 0
        assert "doctor.stash: The old files of changes cannot be kept" in text


class TestBroker:
    def test_broker_does_not_answer(self, settings, monkeypatch):
        from celery import current_app

        settings.CELERY_BROKER_URL = REFUSED
        monkeypatch.setattr(current_app.conf, "broker_write_url", REFUSED)

        code, text = doctor()

        assert code == 0  # only long tools need it
        assert "doctor.broker: The broker of Celery does not answer: " in text

    def test_no_worker(self, settings, monkeypatch):
        from celery import current_app

        settings.CELERY_BROKER_URL = "memory://"
        monkeypatch.setattr(current_app.conf, "broker_write_url", "memory://")
        monkeypatch.setattr(current_app.conf, "broker_url", "memory://")

        code, text = doctor()

        assert code == 0
        assert "doctor.worker: No Celery worker answers." in text


class TestExecutor:
    def test_worker(self, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": "worker"}

        assert "executor       worker: `manage.py runworker` has to run" in doctor()[1]

    def test_web_without_daphne(self, settings):
        settings.INSTALLED_APPS = [
            name for name in settings.INSTALLED_APPS if name != "daphne"
        ]

        assert "no chat can work under it" in doctor()[1]

    def test_none_runs(self):
        code, text = doctor()

        assert code == 0
        assert "none runs now, and under WSGI alone each message is refused" in text

    def test_some_run(self):
        say_present(this_process())

        assert "web: the ASGI server's processes, 1 now" in doctor()[1]


class TestServer:
    def test_daphne_is_followed_by_the_names_of_quicker_ones(self):
        code, text = doctor()

        assert code == 0
        assert "server         Daphne, under `runserver`. uvicorn (with uvloop" in text
        assert "granian are quicker" in text

    def test_quicker_servers_are_no_problem(self):
        assert told()[1]["problems"] == []

    def test_another_server(self, settings):
        settings.INSTALLED_APPS = [
            name for name in settings.INSTALLED_APPS if name != "daphne"
        ]

        text = doctor()[1]

        assert "server         an ASGI server of your choice" in text
        assert "quicker" not in text


class TestCommand:
    @pytest.mark.servers
    def test_imports_no_litellm(self, tmp_path):
        code = (
            "import sys, django; django.setup();"
            "from django.core.management import call_command as call\n"
            "call('check')\n"
            "try: call('assistant_doctor')\n"
            "except SystemExit: pass\n"
            "sys.exit('litellm' in sys.modules)"
        )
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "project.settings",
            "ASSISTANT_MODEL": "openai/gpt-5-mini",
            "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3",
        }

        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        assert "ai_assistant.W014" in done.stdout


class TestExecuting:
    def test_message_that_nobody_takes_blocks(self, django_user_model):
        user = django_user_model.objects.create_user("ada")
        conversation = Conversation.objects.create(owner=user)
        run = Run.objects.create(conversation=conversation, user=user)
        Run.objects.filter(pk=run.pk).update(created_at=Now() - timedelta(minutes=1))

        code, found = told()

        assert code == 1
        assert [one.partition(":")[0] for one in found["problems"]] == [
            "doctor.executor"
        ]

    def test_processes_without_a_layer_between_them_block_nothing(self):
        say_present("another|-|-|1|1")
        say_present("a third|-|-|1|1")

        code, found = told()

        assert code == 0
        assert [one.partition(":")[0] for one in found["problems"]] == ["doctor.apart"]


@pytest.mark.django_db
def test_agent_whose_profile_is_gone_is_told():
    Agent.objects.create(name="writer", label="Writer", text="Write.")
    Agent.objects.update(profile="gone")

    _code, found = told()

    (problem,) = [one for one in found["problems"] if "doctor.agents" in one]
    assert "writer: There is no profile “gone” any more." in problem


@pytest.mark.django_db
@pytest.mark.row("M01")
class TestModules:
    """What has broken in the rows of modules since they were saved."""

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            (
                {"pages": "auth.user", "tools": "vanished"},
                "There is no tool “vanished”",
            ),
            ({"pages": "auth.user", "agent": "gone"}, "There is no agent “gone” any"),
            ({"pages": "auth.user", "profile": "gone"}, "There is no profile “gone”"),
            (
                {"pages": "auth.user", "data_models": "a.b"},
                "There is no model “a.b” an",
            ),
            ({"pages": "shop.order"}, "No page of this site fits “shop.order”."),
            ({"pages": "admin:(["}, "“admin:([” is no page."),
        ],
    )
    def test_each_is_told_with_its_module(self, fields, sentence):
        Module.objects.create(name="teams", pages="auth.user")
        Module.objects.update(**fields)  # as no form would let it be

        _code, found = told()

        (problem,) = [one for one in found["problems"] if "doctor.modules" in one]
        assert f"teams: {sentence}" in problem
