"""The endpoint for AG-UI clients: POST and server-sent events."""
