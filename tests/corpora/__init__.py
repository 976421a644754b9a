"""Lists of bad input that others have collected: fetched when a test asks for them."""

from tests.corpora.load import corpus

__all__ = ["corpus"]
