import json

import pytest
from django.contrib.auth.hashers import make_password
from django.core import signing

from ai_assistant import conf
from ai_assistant.text.redaction.redact import (
    MARK,
    Mask,
    patterns,
    redact,
    redact_json,
    redact_values,
    redact_values_json,
)
from tests.safety.redaction.canaries import LOOKS

LONG = 'Kx9-"quoted"&more\\ä/=+?'


@pytest.fixture
def configured(settings, monkeypatch):
    """A site with a secret in every place that may hold one; name -> value."""
    values = {
        "key of a profile": "profile-key-0001",
        "key in the environment": "environment-key-0002",
        "variable": "variable-of-a-service-0003",
        "own setting": "setting-key-0004",
        "fallback": "fallback-key-0005",
        "broker": "broker-password-0006",
        "cache": "cache-password-0007",
        "database": "database-password-0008",
        "mail": "mail-password-0009",
        "audit": "audit-key-0010",
        "SECRET_KEY": LONG,
    }
    monkeypatch.setenv("CANARY_KEY", values["key in the environment"])
    monkeypatch.setenv("SHOP_API_KEY", values["variable"])
    settings.SECRET_KEY = values["SECRET_KEY"]
    settings.SECRET_KEY_FALLBACKS = [values["fallback"]]
    settings.STRIPE_SECRET_KEY = values["own setting"]
    settings.CELERY_BROKER_URL = f"redis://user:{values['broker']}@host:6379/0"
    settings.MAIL_HOST_PASSWORD = values["mail"]
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels.layers.InMemoryChannelLayer",
            "CONFIG": {"hosts": [f"redis://:{values['cache']}@host"]},
        }
    }
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", values["database"])
    settings.AI_ASSISTANT = conf.merged(
        settings.AI_ASSISTANT,
        {
            "AUDIT": {"KEY": values["audit"]},
            "PROFILES": {
                "default": {"MODEL": "m", "API_KEY": values["key of a profile"]},
                "other": {"MODEL": "m", "API_KEY_ENV": "CANARY_KEY"},
            },
        },
    )
    return values


class TestValues:
    def test_all_that_is_configured(self, configured):
        told = {name: redact_values(f"<{value}>") for name, value in configured.items()}

        assert told == dict.fromkeys(configured, f"<{MARK}>")

    @pytest.mark.parametrize(
        "form", [str, repr, json.dumps, lambda text: json.dumps({"a": [text]})]
    )
    def test_values_in_other_forms(self, configured, form):
        told = redact_values(form(LONG))

        assert MARK in told
        assert "Kx9" not in told

    def test_short_ones_and_names_are_words(self, settings, monkeypatch):
        own = settings.DATABASES["default"]
        monkeypatch.setitem(own, "PASSWORD", "postgres")
        monkeypatch.setitem(own, "USER", "postgres")
        settings.MAIL_HOST_PASSWORD = "mail"

        assert redact("postgres sends mail") == "postgres sends mail"

    def test_json_with_its_keys(self, configured):
        secret = configured["fallback"]

        told = redact_json({secret: [1, None, {"b": f"x {secret}"}], "n": True})

        assert told == {MARK: [1, None, {"b": f"x {MARK}"}], "n": True}

    @pytest.mark.parametrize("wrap", ["{}", "a {} b", "{}\n", "\n{}"])
    def test_value_is_found_wherever_it_stands(self, configured, wrap):
        own_token = f"aia_{'x' * 43}"
        for secret in (*configured.values(), own_token):
            text, told = wrap.format(secret), wrap.format(MARK)
            for value, expected in (
                (text, told),
                (
                    {"a": 1, "b": [None, {"c": [text]}]},
                    {"a": 1, "b": [None, {"c": [told]}]},
                ),
                ([{"role": "x", text: {"y": 2.5}}], [{"role": "x", told: {"y": 2.5}}]),
                ((True, ("z", text)), [True, ["z", told]]),
            ):
                assert redact_values_json(value) == expected

    def test_parts_of_a_value_are_no_value(self, configured, monkeypatch):
        monkeypatch.setenv("TWO_LINES_API_KEY", "first-line-0011\nsecond-line-0012")
        parts = ["first-line-0011", "second-line-0012"]

        assert redact_values_json(parts) == parts

    @pytest.mark.parametrize("text", ["plain", f"aia_{'x' * 43}"])
    def test_what_comes_back_is_a_copy(self, text):
        value = [{"role": "x", "calls": [{"name": "y"}], "text": text}]

        told = redact_values_json(value)
        told[0]["role"] = told[0]["calls"][0]["name"] = "changed"
        told[0]["calls"].append("more")

        assert value == [{"role": "x", "calls": [{"name": "y"}], "text": text}]


class TestPatterns:
    @pytest.mark.parametrize("name", LOOKS)
    def test_patterns_is_taken_out(self, name):
        whole, secret = LOOKS[name]
        texts = (whole, f"a {whole} b", f"x\n{whole}\ny")
        for text in (*texts, *map(repr, texts), *map(json.dumps, texts)):
            told = redact(text)

            assert secret not in told
            assert MARK in told

    @pytest.mark.parametrize(
        "hasher", ["pbkdf2_sha256", "pbkdf2_sha1", "scrypt", "md5"]
    )
    def test_hash_of_django(self, hasher, settings):
        settings.PASSWORD_HASHERS = [
            "django.contrib.auth.hashers.PBKDF2PasswordHasher",
            "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
            "django.contrib.auth.hashers.ScryptPasswordHasher",
            "django.contrib.auth.hashers.MD5PasswordHasher",
        ]
        told = redact(f"password: {make_password('x', hasher=hasher)}.")

        assert told == f"password: {MARK}."

    def test_signed_data_of_django(self):
        told = redact(signing.dumps({"user": 7, "more": "x" * 40}, compress=True))

        assert told == MARK

    def test_what_stands_around_is_kept(self):
        told = redact("postgres://ada:s3cretword@db:5432/shop")

        assert told == f"postgres://ada:{MARK}@db:5432/shop"

    @pytest.mark.parametrize(
        "text",
        [
            "Ask the risk-management team about task-list-of-next-week.",
            "See https://example.com:8080/a?b=c and mail ada@example.com",
            "The basic education of the bearer is unknown.",
            "sha1 and md5 are hashes; $2 is a price, 5$ too.",
            "123e4567-e89b-12d3-a456-426614174000",
            "2026-11-22T09:30:00+00:00",
            "session: 12, token: next, password: see below",
        ],
    )
    def test_plain_words_stay(self, text):
        assert redact(text) == text

    def test_patterns_of_the_site(self, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "REDACT": [r"CUST-\d{6}", r"pin=(?P<secret>\d{4})"],
        }

        assert redact("CUST-123456, pin=9876") == f"{MARK}, pin={MARK}"

    def test_twice_is_once(self):
        text = " ".join(whole for whole, _ in LOOKS.values())

        assert redact(redact(text)) == redact(text)


EVIL = (
    "eyJ" * 20_000,
    "eyJaaaaaaaaa." * 5_000,
    "sk-" * 20_000,
    "sk-aaaa " * 8_000,
    "://" * 20_000,
    "://" + "a" * 60_000,
    "://a:" * 13_000,
    "-----BEGIN PRIVATE KEY-----" * 2_400,
    "-----BEGIN PRIVATE KEY-----" + "a" * 60_000,
    "$2b$10$" * 9_000,
    "pbkdf2_sha256$1$" * 4_000,
    "argon2$argon2id$" * 4_000,
    "scrypt$a$" * 7_000,
    "bearer " * 9_000,
    "authorization: " * 4_000,
    "authorization" + " " * 60_000,
    "sessionid" * 7_000,
    "sessionid=" * 6_000,
    "a" * 30_000 + ":" + "b" * 30_000,
    ("a" * 25 + ":" + "b" * 6 + ":") * 1_900,
    "AKIA" * 16_000,
    "ghp_" * 16_000,
    "SG." + "a" * 60_000,
)


class TestSpeed:
    @pytest.mark.timeout(60)
    @pytest.mark.parametrize("text", EVIL, ids=lambda text: text[:20])
    def test_speed_takes_no_steps_squared(self, text):
        """A megabyte is a matter of milliseconds; squared it would be of hours."""
        assert redact(text * (1_000_000 // len(text)))

    def test_each_pattern_has_hints(self):
        assert all(pattern.hints for pattern in patterns())


class TestMask:
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
    def test_however_it_is_cut(self, configured, size):
        secret = configured["own setting"]
        text = f"The key is {secret}, set{secret}ting-key-000{secret}. End set"
        mask = Mask()

        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        told = "".join([mask.add(piece) for piece in pieces]) + mask.end()

        assert told == redact_values(text)
        assert secret not in told

    def test_other_text_is_told_at_once(self, configured):
        assert Mask().add("Good day! ") == "Good day! "
