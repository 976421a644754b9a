"""How it looks: from rows to markdown, fragments and frames."""
