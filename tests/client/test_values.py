"""The values of the client are those of the document."""

from ai_assistant.web.rest.schema import ApiSchemaGenerator
from tools.client import FILE, source


def test_are_what_the_document_says():
    """If not: `make client`."""
    assert source(ApiSchemaGenerator().get_schema()) == FILE.read_text("utf-8")
