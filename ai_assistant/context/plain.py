"""Values in the form in which they are stored and told."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return `value` as plain JSON. Raise TypeError or ValueError if it has none."""
    text = json.dumps(value, cls=DjangoJSONEncoder, allow_nan=False)
    return json.loads(text)
