"""One dict over defaults, read when used."""

import re

import pytest

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant


@pytest.fixture
def site(settings):
    def configure(**options):
        settings.AI_ASSISTANT = options

    return configure


class TestGet:
    def test_default(self, site):
        site()

        assert conf.get("LIMITS", "STEPS") == 10

    def test_own(self, site):
        site(LIMITS={"STEPS": 3})

        assert conf.get("LIMITS", "STEPS") == 3

    def test_get_without_the_setting(self, settings):
        del settings.AI_ASSISTANT

        assert conf.get("LIMITS", "STEPS") == 10

    def test_others_of_the_group_keep_their_defaults(self, site):
        site(LIMITS={"STEPS": 3})

        assert conf.get("LIMITS", "RUNS_PER_USER") == 5

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (
                {"MAX_STEP": 3},
                "AI_ASSISTANT['MAX_STEP'] is not a setting. "
                "Remove it, or correct its name.",
            ),
            (
                {"LIMITS": {"STEP": 3}},
                "AI_ASSISTANT['LIMITS']['STEP'] is not a setting. "
                "Remove it, or correct its name.",
            ),
            (
                {"MAX_STEPS": 3},
                "AI_ASSISTANT['MAX_STEPS'] is now AI_ASSISTANT['LIMITS']['STEPS']. "
                "Rename it.",
            ),
            (
                {"LIMITS": {"ATTEMPTS": 9}},
                "AI_ASSISTANT['LIMITS']['ATTEMPTS'] is always 5 now. Remove it.",
            ),
            (
                {"MAX_ATTEMPTS": 9},
                "AI_ASSISTANT['MAX_ATTEMPTS'] is always 5 now. Remove it.",
            ),
            (
                {"PANEL": {"HTMX": "auto"}},
                "AI_ASSISTANT['PANEL']['HTMX'] is always 'vendored' now. Remove it.",
            ),
        ],
    )
    def test_unknown_name(self, site, options, sentence):
        site(**options)

        expected = f"{sentence} docs/settings.md lists the names."
        with pytest.raises(ImproperlyConfiguredAssistant, match=re.escape(expected)):
            conf.get("ENABLED")

    def test_every_new_name_of_a_retired_one_is_a_setting(self):
        new = {*conf.RETIRED.values()}

        known = {path for path, _ in conf.flat(conf.DEFAULTS)}
        assert new == {path for path in known if len(path) > 1} | {*conf.FIXED}
        assert not {*conf.RETIRED} & {*conf.DEFAULTS}

    def test_other_settings_change_nothing(self, site, settings):
        site(LIMITS={"STEPS": 3})
        settings.DEBUG = True

        assert conf.get("LIMITS", "STEPS") == 3


@pytest.mark.row("M13")
class TestEnabled:
    def test_off_by_default(self, site):
        site()

        assert not conf.enabled()

    def test_enabled_on(self, site):
        site(ENABLED=True)

        assert conf.enabled()


class TestTimes:
    def test_scale_with_the_lease(self, site):
        site(LEASE_S=10)

        assert (conf.heartbeat_s(), conf.sweep_s(), conf.resend_s()) == (3.0, 2.0, 60.0)


class TestProfile:
    @pytest.mark.row("V01")
    def test_key_comes_from_the_environment(self, site, monkeypatch):
        monkeypatch.setenv("OUR_KEY", "k")
        site(PROFILES={"default": {"MODEL": "m", "API_KEY_ENV": "OUR_KEY"}})

        assert conf.profile() == {"MODEL": "m", "API_KEY": "k"}

    def test_own_key_goes_first(self, site, monkeypatch):
        monkeypatch.setenv("OUR_KEY", "k")
        site(PROFILES={"default": {"API_KEY_ENV": "OUR_KEY", "API_KEY": "own"}})

        assert conf.profile() == {"API_KEY": "own"}

    def test_missing_variable(self, site, monkeypatch):
        monkeypatch.delenv("OUR_KEY", raising=False)
        site(PROFILES={"default": {"API_KEY_ENV": "OUR_KEY"}})

        assert conf.profile() == {"API_KEY": ""}

    def test_profile_is_a_copy(self, site):
        site(PROFILES={"default": {"MODEL": "m"}})

        conf.profile()["MODEL"] = "other"

        assert conf.profile() == {"MODEL": "m"}

    def test_missing_default_profile_names_those_there_are(self, site):
        site(PROFILES={"b": {}, "a": {}})

        expected = (
            "AI_ASSISTANT['PROFILES'] has no profile 'default'. Add it, or use one of "
            "['a', 'b']."
        )
        with pytest.raises(ImproperlyConfiguredAssistant, match=re.escape(expected)):
            conf.profile()


class TestLoad:
    def test_imports(self):
        assert conf.import_named("PROFILES", "ai_assistant.conf.get") is conf.get

    @pytest.mark.parametrize("path", ["no.such.Thing", "ai_assistant.conf.nothing", ""])
    def test_load_names_setting_and_path(self, path):
        with pytest.raises(
            ImproperlyConfiguredAssistant,
            match=re.escape(f"AI_ASSISTANT['PROFILES'] names {path!r}, which cannot"),
        ):
            conf.import_named("PROFILES", path)
