"""What must not be seen anywhere: each with the text around it, by its name."""

import base64
import hashlib


def _own(name: str, chars: int = 24) -> str:
    """Return letters and digits that nothing else holds, always the same."""
    digest = b"".join(hashlib.sha256(f"{name}{n}".encode()).digest() for n in range(4))
    text = base64.b64encode(digest).decode()
    return "".join(char for char in text if char.isalnum())[:chars]


def _key(name: str) -> str:
    marks = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----")
    return f"\n{_own(name)}\n".join(marks)


# Put together here, so that no file holds what looks like a real key.
WHOLE = {
    "openai": "sk-proj-{}",
    "anthropic": "sk-ant-api03-{}",
    "stripe": "sk_live_{}",
    "github": "ghp_{}" + "x" * 12,
    "slack": "xoxb-{}-1",
    "google": "AIza{}" + "x" * 11,
    "bearer": "Authorization: Bearer {}",
    "basic": "authorization: Basic {}==",
    "drf token": "Authorization: Token {}",
    "jwt": "eyJhbGciOiJ9.{}.abcdefgh",
    "pbkdf2": "pbkdf2_sha256$870000$salt${}=",
    "argon2": "argon2$argon2id$v=19$m=102400,t=2,p=8$abc${}",
    "bcrypt": "bcrypt_sha256$$2b$12$" + "x" * 29 + "{}",
    "plain bcrypt": "$2b$12$" + "x" * 29 + "{}",
    "session cookie": "Cookie: sessionid={}",
    "csrf cookie": "csrftoken={}",
    "csrf field": 'name="csrfmiddlewaretoken" value="{}"',
    "own token": "aia_{}" + "x" * 19,
    "database address": "postgres://shop:{}@db/shop",
    "broker address": "redis://:{}@redis:6379/0",
}
LOOKS = {name: (form.format(_own(name)), _own(name)) for name, form in WHOLE.items()}
LOOKS["aws"] = ("AKIA" + _own("aws", 16).upper(), _own("aws", 16).upper())
LOOKS["private key"] = (_key("private key"), _own("private key"))
