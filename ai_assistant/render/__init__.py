"""Rendering: from rows to markdown, fragments and frames."""
