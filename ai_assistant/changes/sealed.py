"""
Values of sensitive columns, kept so that nobody can read them in a table.

They are needed to restore a deleted row, and for nothing else. A sealed value is
`{"$sealed": <encrypted JSON>, "mac": <keyed digest>}`; equal values have equal
digests, so that sealed values can be compared unopened.
"""

import hmac
import json
from typing import Any

from django.conf import settings

from ai_assistant.safety.sealing import decrypted, encrypted, site_key

SEALED = "$sealed"
SEAL, MAC = "changes.seal", "changes.mac"  # what their keys are for


def seal(value: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    """Return the sealed form of a JSON value."""
    text = json.dumps(value, sort_keys=True).encode()
    return {SEALED: encrypted(text, SEAL), "mac": mac(text)}


def unseal(value: Any) -> Any:  # noqa: ANN401 - JSON
    """
    Return what was sealed; any other value as it is.

    Raise CannotUnseal if none of the site's secret keys opens it.
    """
    return json.loads(decrypted(value[SEALED], SEAL)) if is_sealed(value) else value


def is_sealed(value: Any) -> bool:  # noqa: ANN401 - JSON
    """Tell whether a JSON value is a sealed one."""
    return isinstance(value, dict) and SEALED in value


def mac(text: bytes) -> str:
    """Return a digest of `text` that only this site can make, as hex."""
    return hmac.digest(site_key(settings.SECRET_KEY, MAC), text, "sha256").hex()
