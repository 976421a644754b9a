"""What the assistant can do: from a registered function to one clear result."""
