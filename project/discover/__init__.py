"""A log explorer, whose view lends the assistant its own tool."""
