"""Tools for outside test suites; installed if ASSISTANT_CONFORMANCE is 1."""
