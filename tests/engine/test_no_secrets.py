"""
Canaries in settings, rows, errors, pages and replies: none is seen in any sink.

Each flow ends in its own way; then everything is searched that was stored, logged,
told to the model, drawn or exported.
"""

import io
import json
import logging

import pytest
from celery import Celery, current_app
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from ai_assistant import Ask, ModelRetry, RunContext, ToolFailed, ToolResult
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.calls.background.send import _send_message
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.exceptions import ModelError
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.render.html.fragments import entry_html, fragment
from ai_assistant.render.html.transcript.thread import read_thread
from ai_assistant.testing import call, reply
from ai_assistant.text.redaction.redact import MARK
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.model_server import ModelServer
from tests.model_server import scripts as model_scripts
from tests.render.html.tab import panel
from tests.safety.redaction.canaries import LOOKS
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

SETTINGS = {
    "API_KEY": "canary-of-the-profile-Qm51",
    "API_KEY_ENV": "canary-of-the-environment-Qm52",
    "SECRET_KEY": 'canary-of-django-&"-Qm53',
    "SECRET_KEY_FALLBACKS": "canary-of-former-times-Qm54",
    "MAIL_HOST_PASSWORD": "canary-of-the-mail-Qm55",
    "BROKER": "canary-of-the-broker-Qm56",
}
PARTS = (
    [secret for _whole, secret in LOOKS.values()]
    + [value for name, value in SETTINGS.items() if name != "SECRET_KEY"]
    + ["Qm53"]
)
ALL = "\n".join([*(whole for whole, _ in LOOKS.values()), *SETTINGS.values()])


OTHER = {"MODEL": "m", "API_KEY_ENV": "CANARY_ENV"}


@pytest.fixture
def planted(settings, options, monkeypatch):
    """Plant the secrets of the site."""
    settings.SECRET_KEY = SETTINGS["SECRET_KEY"]
    settings.SECRET_KEY_FALLBACKS = [SETTINGS["SECRET_KEY_FALLBACKS"]]
    settings.MAIL_HOST_PASSWORD = SETTINGS["MAIL_HOST_PASSWORD"]
    settings.CELERY_BROKER_URL = f"redis://:{SETTINGS['BROKER']}@host/0"
    monkeypatch.setenv("CANARY_ENV", SETTINGS["API_KEY_ENV"])
    profiles = settings.AI_ASSISTANT["PROFILES"]
    profile = {**profiles["default"], "API_KEY": SETTINGS["API_KEY"]}
    options(PROFILES={"default": profile, "other": OTHER}, AUDIT={"READS": True})
    assert len(PARTS) == len(set(PARTS)) >= 25


@pytest.fixture
def lines():
    """All that is logged below our name, as a handler of the site writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))
    logger = logging.getLogger("ai_assistant")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(level)


def database():
    """Return all of our tables as text."""
    told = {}
    for model in apps.get_app_config("ai_assistant").get_models():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {model._meta.db_table}")  # noqa: S608
            told[model._meta.label] = repr(cursor.fetchall())
    return told


def pages(client):
    """Return what is drawn: the panel of each conversation, the pages of the admin."""
    told = {}
    for conversation in Conversation.objects.all():
        drawn, shown = read_thread(conversation), panel()
        entries = [entry_html(entry, shown) for entry in drawn.entries]
        asked = [
            fragment(item["kind"], item=item, panel=shown) for item in drawn.pinned
        ]
        told[f"panel {conversation.pk}"] = "".join([*entries, *asked])
    for name in ("run", "toolcall", "changeset", "auditentry", "conversation"):
        address = reverse(f"admin:ai_assistant_{name}_changelist")
        told[f"list {name}"] = client.get(address).content.decode()
        model = apps.get_model("ai_assistant", name)
        for row in model._default_manager.all()[:20]:
            page = reverse(f"admin:ai_assistant_{name}_change", args=[row.pk])
            told[f"{name} {row.pk}"] = client.get(page).content.decode()
    return told


def exported(user):
    out = io.StringIO()
    call_command("assistant_export", user=user.get_username(), stdout=out)
    assert json.loads(out.getvalue())["conversations"]
    return out.getvalue()


def seen(sinks):
    """Return each canary with the sink in which it was seen."""
    return [
        (name, part) for name, text in sinks.items() for part in PARTS if part in text
    ]


# --- what is done, with canaries in all that can tell any ---


def reads():
    """Read a row."""
    return {"note": ALL, ALL: [ALL], "deep": {"er": {"note": ALL}}}


def repeats():
    """Fail in words for the model."""
    raise ModelRetry(f"no: {ALL}")


def gives_up():
    """Fail for good."""
    raise ToolFailed(f"no: {ALL}", suggestion=ALL)


def returns_failure():
    """Return a failure."""
    return ToolResult(ok=False, error=ALL, suggestion=ALL, schema_hint={"a": ALL})


def breaks():
    """Fail with an exception of its own."""
    raise RuntimeError(ALL)


def tells(context: RunContext):
    """Tell of its work."""
    context.progress(0.5, ALL)
    context.step(ALL)
    for whole, _ in LOOKS.values():
        context.step(whole)
    yield {"so far": ALL}
    yield {"done": True}


def asks(context: RunContext):
    """Ask the person."""
    if "answer" not in context.answers:
        raise Ask(f"Which? {ALL}", options=[ALL, "none"])
    return ALL


def writes(context: RunContext):
    """Write a row."""
    Effect.objects.create(key="k", value="plain", run=context.run_id)
    return ToolResult(ok=True, data=ALL, message=ALL, changed=({"text": ALL},))


READS = (reads, repeats, gives_up, returns_failure, breaks, tells)


@pytest.fixture
def tools(offer):
    for handler in READS:
        offer(handler)
    offer(asks)
    offer(writes, effect="write")
    offer(reads, name="works_long", background=True)

    def is_enabled(_context):
        raise RuntimeError(ALL)

    offer(reads, name="never_there", is_enabled=is_enabled)
    return registry


def flow_tools(play, script):
    script.add(
        reply("I look.", *(call(handler.__name__) for handler in READS)),
        reply("And I ask.", call("asks")),
        "Done.",
    )
    run = play(
        page_title=ALL[:250],
        page_path="/admin/?next=" + next(iter(LOOKS.values()))[0],
        context={"browser": [{"id": "p", "description": "Page", "value": ALL}]},
    )
    answer(given(run, text="none"))
    return resume(run)


def flow_write(play, script):
    script.add(reply("May I?", call("writes")), "Done.")
    run = play()
    answer(given(run, "approve"))
    return resume(run)


def flow_denied(play, script):
    script.add(reply("May I?", call("writes")), "I see.")
    run = play()
    answer(given(run, "deny", text=f"No {SETTINGS['API_KEY']}"))
    return resume(run)


def flow_background(play, script):
    script.add(reply("", call("works_long")), "Done.")
    run = play()
    perform(run.calls.get().pk)
    return resume(run)


def flow_stopped(play, script):
    script.add(reply("May I?", call("writes")))
    run = play()
    stop(run.pk)
    return run


def flow_key_told_back(play, script):
    """A server that answers with the key that it was sent, in pieces."""
    key = SETTINGS["API_KEY"]
    pieces = ["Your key: ", *(key[at : at + 3] for at in range(0, len(key), 3)), "."]
    script.add(pieces, reply("", call("reads", {"x": key})), "Done.")
    play(f"My key is {key}")
    return play(f"It is {SETTINGS['SECRET_KEY']}, I think")


def flow_model_fails(play, script):
    script.add(["So ", ModelError("bad_key", f"Incorrect key: {ALL}")])
    return play()


def flow_internal(play, script):
    script.add(["So "], ["x"])
    script.replies[:] = [[RuntimeError(ALL)]]  # no part that a script can play
    return play()


FLOWS = (
    flow_tools,
    flow_write,
    flow_denied,
    flow_background,
    flow_stopped,
    flow_key_told_back,
    flow_model_fails,
    flow_internal,
)


class TestSinks:
    @pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.__name__)
    def test_no_canary_is_seen(
        self, flow, planted, tools, lines, play, script, user, client, capsys
    ):
        run = flow(play, script)
        client.force_login(user)
        logging.getLogger("ai_assistant").warning("%s failed", ALL)

        sinks = {
            **database(),
            "log": lines.getvalue(),
            "prompts": repr([[one.messages, one.tools] for one in script.requests]),
            **pages(client),
            "export": exported(user),
        }
        found = seen(sinks)

        with capsys.disabled():
            told = f"{len(PARTS)} canaries, {len(sinks)} sinks, {len(found)} seen"
            print(f"\n{flow.__name__}: {told}")  # noqa: T201 - a figure
        assert found == []
        assert MARK in sinks["log"]
        assert Run.objects.get(pk=run.pk).state != "queued"

    def test_none_in_the_requests_to_a_server(self, planted, tools, play, options):
        """The whole body of each HTTP request, as the server got it."""
        with ModelServer() as server:
            names = [handler.__name__ for handler in READS]
            steps = [[model_scripts.call(name)] for name in names]
            server.script("default", [*steps, [model_scripts.text("Done.")]])
            profile = {
                "PROVIDER": "direct",
                "MODEL": "openai/scripted",
                "API_BASE": server.base,
                "API_KEY": SETTINGS["API_KEY"],
            }
            options(PROFILES={"default": profile, "other": OTHER})
            run = play(f"Look. {SETTINGS['API_KEY']}", page_title=ALL[:250])
            bodies = [json.dumps(entry.request) for entry in server.log()]

        assert (run.state, len(bodies)) == ("succeeded", len(READS) + 1)
        assert seen(dict(enumerate(bodies))) == []
        assert MARK in bodies[-1]

    def test_search_finds_what_is_there(self, user):
        """The judge itself: a canary in a row is seen."""
        Conversation.objects.create(owner=user, title=SETTINGS["API_KEY"])

        assert seen(database()) == [("ai_assistant.Conversation", SETTINGS["API_KEY"])]

    @pytest.fixture
    def celery(self):
        """Celery with a broker in this process."""
        before = current_app._get_current_object()
        with Celery("canaries", broker="memory://") as app:
            # One broker for the whole process: other tests may have left messages.
            with app.connection_for_write() as connected:
                connected.SimpleQueue("celery").clear()
            yield app
        before.set_current()

    def test_message_to_celery_carries_the_id_only(
        self, planted, tools, play, script, celery
    ):
        script.add(reply("", call("works_long", {"x": ALL})), "Done.")
        (one,) = play().calls.all()
        _send_message(one.pk)
        with celery.connection_for_read() as connected:
            message = connected.SimpleQueue("celery").get(timeout=5)

        assert message.payload[0] == [str(one.pk)]
        assert seen({"message": repr([message.headers, message.body])}) == []
