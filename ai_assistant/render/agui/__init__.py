"""Rendering for AG-UI clients: the event log as events of the protocol."""
