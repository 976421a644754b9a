"""Browser tools: those that are built in, and those that a page declares."""
