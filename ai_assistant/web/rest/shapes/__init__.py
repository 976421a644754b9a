"""What the API answers, as models: a table of the database is none of them."""
