"""
Values of sensitive columns, kept so that nobody can read them in a table.

They are needed to restore a deleted row, and for nothing else. A sealed value is
`{"$sealed": <encrypted JSON>, "mac": <keyed digest>}`; equal values have equal
digests, so that sealed values can be compared unopened.
"""

import base64
import hmac
import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from ai_assistant.exceptions import AssistantError

SEALED = "$sealed"


class CannotUnseal(AssistantError):
    """A sealed value cannot be read: SECRET_KEY was changed without a fallback."""


def seal(value: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    """Return the sealed form of a JSON value."""
    text = json.dumps(value, sort_keys=True).encode()
    token = Fernet(_key(settings.SECRET_KEY, b"seal")).encrypt(text)
    return {SEALED: token.decode(), "mac": mac(text)}


def unseal(value: Any) -> Any:  # noqa: ANN401 - JSON
    """
    Return what was sealed; any other value as it is.

    Raise CannotUnseal if none of the site's secret keys opens it.
    """
    if not is_sealed(value):
        return value
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    keys = MultiFernet([Fernet(_key(secret, b"seal")) for secret in secrets])
    try:
        return json.loads(keys.decrypt(value[SEALED].encode()))
    except InvalidToken as error:
        raise CannotUnseal(
            "A sealed value cannot be read with the site's secret keys. "
            "Add the former SECRET_KEY to SECRET_KEY_FALLBACKS."
        ) from error


def is_sealed(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Tell whether a JSON value is a sealed one."""
    return isinstance(value, dict) and SEALED in value


def mac(text: bytes) -> str:
    """Return a digest of `text` that only this site can make, as hex."""
    return hmac.digest(_key(settings.SECRET_KEY, b"mac"), text, "sha256").hex()


@lru_cache(maxsize=16)
def _key(secret: str | bytes, purpose: bytes) -> bytes:
    material = secret.encode() if isinstance(secret, str) else secret
    derived = HKDF(
        algorithm=SHA256(),
        length=32,
        salt=None,
        info=b"ai_assistant.changes." + purpose,
    ).derive(material)
    return base64.urlsafe_b64encode(derived)
