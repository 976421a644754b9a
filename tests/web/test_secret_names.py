"""Names of fields that hold secrets: the page withholds what the server does."""

import re
from pathlib import Path

import pytest

import ai_assistant
from ai_assistant.safety.policy.sensitive import SECRET_WORDS, WORD_BREAKS

SCRIPT = (
    Path(ai_assistant.__file__).parent / "static" / "ai_assistant" / "collectors.js"
).read_text()
LITERAL = r"const {}\s*=\s*/(.+)/([gi]+);"

SECRET = (
    "password password2 new_password passwords passwd passphrase pwd user_pwd "
    "secret client_secret clientSecret app_secrets token auth_token accessToken "
    "session_tokens refresh_token csrf_token CSRFToken credential credentials "
    "api_key apiKey APIKey apikey api_keys private_key signing_key sessionKey "
    "session_data password_salt salt hash password_hash SHAHash hashes otp otp_code "
    "pin pin_code PIN cardPin passcode passcodes hashed_key hashedKey auth_key authkey "
    "encryption_key recovery_codes recovery_code backup_codes backupCodes totp_seed "
    "totpSeed totp_secret otp_seed mfa_secret mfa_code mfaSeed auth_code "
)
HARMLESS = (
    "title description key monkey keyboard spinning pinned opinion hashtag salted "
    "basalt author status mission accession impressed count2 "
    "postal_code postcode code seed digest sort_key country_code public_key "
)
TYPED = (
    "passwort mypassword cvc card_cvv cc-number cc-csc iban account-iban one-time-code "
    "userpwd smtppwd stripeapikey awscredentials mycredential "
)


def literal(name):
    """Return a pattern of the script, compiled as it stands there."""
    source, flags = re.search(LITERAL.format(name), SCRIPT).groups()
    return re.compile(source, re.IGNORECASE if "i" in flags else 0)


def hides_on_server(name):
    return bool(SECRET_WORDS.search(WORD_BREAKS.sub("_", name)))


def hides_in_page(name):
    words = re.sub(r"\W+", "_", literal("WORD_BREAKS").sub("_", name), flags=re.A)
    return any(literal(one).search(words) for one in ("SECRET_WORDS", "TYPED"))


@pytest.mark.parametrize(
    ("name", "pattern"), [("SECRET_WORDS", SECRET_WORDS), ("WORD_BREAKS", WORD_BREAKS)]
)
def test_page_has_the_patterns_of_the_server(name, pattern):
    assert literal(name).pattern == pattern.pattern
    assert literal(name).flags == pattern.flags


@pytest.mark.parametrize("name", SECRET.split())
@pytest.mark.parametrize("in_form", ["{}", "form-0-{}", "id_{}", "shop[{}]", "a.{}"])
def test_page_hides_what_the_server_hides(name, in_form):
    assert hides_on_server(name)
    assert hides_in_page(in_form.format(name))


@pytest.mark.parametrize("name", HARMLESS.split())
def test_both_show_what_only_sounds_alike(name):
    assert not hides_on_server(name)
    assert not hides_in_page(name)


@pytest.mark.parametrize("name", TYPED.split())
def test_page_hides_more_of_what_is_typed(name):
    assert hides_in_page(name)
