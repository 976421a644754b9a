"""How a run looks to an AG-UI client: our event log in the protocol's words."""
