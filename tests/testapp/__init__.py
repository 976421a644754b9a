"""A host app of the tests: tools whose effects can be counted."""
