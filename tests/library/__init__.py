"""A host app of the tests: models and an admin with all that an admin may do."""
