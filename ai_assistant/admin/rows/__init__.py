"""Rows of configuration: their versions and previews, and all of them as a file."""
