"""The data that the demo starts with."""
