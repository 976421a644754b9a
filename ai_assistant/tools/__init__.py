"""Tools of the assistant: from a registered function to the result of a call."""
