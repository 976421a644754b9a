"""The REST API of the demo, of which the assistant may call what the settings name."""
