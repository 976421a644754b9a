"""A run asks the model of a profile that is a row of the admin."""

import pytest

from ai_assistant.configuration.profiles import keep_key
from ai_assistant.models import Profile, UsageLedger
from tests.engine.conftest import said
from tests.model_server.scripts import text

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("V02"),
    pytest.mark.servers,
]

KEY = "sk-own-0123456789abcdef"


@pytest.fixture
def stored(options, model_server):
    """Store a profile for the scripted server, which the site allows."""

    def store(name="default", model="openai/scripted", **fields):
        row = Profile(name=name, model=model, api_base=model_server.base, **fields)
        keep_key(row, KEY)
        row.save()
        return row

    options(MODEL_HOSTS=["127.0.0.1"])
    model_server.clear()
    return store


@pytest.mark.parametrize("provider", ["direct", "litellm"])
def test_run_uses_the_row_its_key_and_its_prices(stored, play, model_server, provider):
    model_server.script("row", [[text(f"Here I am, {KEY}.")]])
    stored(provider=provider, input_usd_per_mtok=1_000, output_usd_per_mtok=1_000)

    run = play("Hello [[script:row]]")

    assert said(run) == "Here I am, [redacted]."
    (request,) = model_server.log()
    assert request["authorization"] == f"Bearer {KEY}"
    assert UsageLedger.objects.get().cost_usd > 0


def test_row_of_litellm_without_a_key_sends_none_of_the_environment(
    stored, play, model_server, monkeypatch
):
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    row = stored(model="groq/scripted", provider="litellm")
    keep_key(row, "")
    row.save()

    play()

    (request,) = model_server.log()
    assert KEY not in request["authorization"]


def test_run_of_a_row_at_a_private_host_fails_and_calls_nothing(
    stored, options, play, model_server
):
    stored()
    options(MODEL_HOSTS=[])

    run = play()

    assert (run.state, run.error_code) == ("failed", "blocked_host")
    assert not model_server.log()


def test_row_falls_back_to_a_profile_of_the_settings(stored, play, script):
    script.add("From the settings.")
    row = stored("mine", fallback="default", first_byte_s=1)
    model = "Hello [[script:hang]]"

    run = play(model, profile=row.name)

    assert (run.fallback, said(run)) == ("default", "From the settings.")


def test_key_for_another_address_is_not_sent(stored, play, model_server):
    row = stored()
    Profile.objects.update(api_base=model_server.base.replace("127.0.0.1", "localhost"))
    row.refresh_from_db()
    row.save()

    run = play()

    assert (run.state, run.error_code) == ("failed", "not_configured")
    assert not model_server.log()
