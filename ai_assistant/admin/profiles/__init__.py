"""Model profiles: their form, their page, and the first run."""
