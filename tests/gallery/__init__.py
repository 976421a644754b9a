"""A host app of the tests: rows in all the relations and with all kinds of fields."""
