"""A run: how it starts, continues, waits, is resumed, stopped and finished."""
