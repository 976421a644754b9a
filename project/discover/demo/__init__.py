"""The log lines that the demo starts with."""
