"""The conversation as HTML: whole, and as frames while it grows."""
