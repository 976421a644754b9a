"""What is read and what is written: JSON, whatever the site has set for its own."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import IO, Any

from django.utils.translation import gettext as _
from pydantic import BaseModel
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from ai_assistant import conf
from ai_assistant.exceptions import Refused

BYTES_A_CHARACTER = 12  # as two \u escapes
BYTES_BESIDE = 64 * 1024  # of a body, for all but its text


class Negotiation(DefaultContentNegotiation):
    """Goes by the header `Accept`; a parameter for it is a mistake like any other."""

    settings = SimpleNamespace(URL_FORMAT_OVERRIDE=None)  # type: ignore[assignment]


class JSONBody(BaseParser):
    """Returns the bytes of a JSON body: a model reads them, and says what is wrong."""

    media_type = "application/json"

    def parse(  # type: ignore[override]  # what it returns is `request.data`
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the bytes. Raise Refused too_large."""
        most = BYTES_A_CHARACTER * int(conf.get("MAX_MESSAGE_CHARS")) + BYTES_BESIDE
        body: bytes = stream.read(most + 1)
        if len(body) > most:
            sentence = _("A request may have %(most)d bytes.") % {"most": most}
            raise Refused("too_large", sentence)
        return body


class JSONAnswer(BaseRenderer):
    """Writes a model, or a dict of plain values."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,  # noqa: ANN401 - a model or JSON
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return UTF-8; nothing for None."""
        if data is None:
            return b""
        if isinstance(data, BaseModel):
            return data.model_dump_json().encode()
        return json.dumps(data, ensure_ascii=False).encode()
