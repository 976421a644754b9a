"""Rendering for AG-UI clients: the event log in the protocol's words."""
