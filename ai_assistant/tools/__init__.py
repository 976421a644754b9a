"""Tools of the assistant: from a registered function to one clear result."""
