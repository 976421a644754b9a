"""The changes of a tool: shown before, captured during, and kept after the call."""
