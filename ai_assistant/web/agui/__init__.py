"""The door for AG-UI clients: POST and server-sent events."""
