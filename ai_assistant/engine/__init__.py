"""A run: how it starts, goes on, waits, is resumed, stopped and finished."""
