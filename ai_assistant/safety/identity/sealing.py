"""Bytes that only this site can read again: encrypted with a key of its SECRET_KEY."""

import base64
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from ai_assistant.exceptions import AssistantError


class CannotUnseal(AssistantError):
    """A sealed value cannot be read: SECRET_KEY was changed without a fallback."""


def encrypted(clear: bytes, purpose: str) -> str:
    """Return `clear` encrypted for `purpose`; no other purpose can open it."""
    return Fernet(site_key(settings.SECRET_KEY, purpose)).encrypt(clear).decode()


def decrypted(token: str, purpose: str) -> bytes:
    """
    Return what was encrypted for `purpose`.

    Raise CannotUnseal if none of the site's secret keys opens it.
    """
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    keys = MultiFernet([Fernet(site_key(secret, purpose)) for secret in secrets])
    try:
        return keys.decrypt(token.encode())
    except InvalidToken as error:
        raise CannotUnseal(
            "A sealed value cannot be read with the site's secret keys. "
            "Add the former SECRET_KEY to SECRET_KEY_FALLBACKS."
        ) from error


@lru_cache(maxsize=16)
def site_key(secret: str | bytes, purpose: str) -> bytes:
    """Return the key, as base64, that a secret key of the site gives for `purpose`."""
    derived = HKDF(
        algorithm=SHA256(),
        length=32,
        salt=None,
        info=b"ai_assistant." + purpose.encode(),
    ).derive(secret.encode() if isinstance(secret, str) else secret)
    return base64.urlsafe_b64encode(derived)
