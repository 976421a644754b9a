"""A model's reply without the site's own secrets, wherever a chunk cuts them."""

from collections.abc import AsyncGenerator

from ai_assistant.providers.texts import Filters, filter_stream
from ai_assistant.text.redaction import Mask, redact_values, redact_values_json
from ai_assistant.types import ModelChunk

MASKS = Filters(growing=Mask, words=redact_values, fields=redact_values_json)


def with_masked_secrets(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`; a server that tells our key back is not heard."""
    return filter_stream(stream, MASKS)
