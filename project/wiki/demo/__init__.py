"""The pages that the demo starts with."""
