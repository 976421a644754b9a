"""The pages of modules: their form, what they select, and what is decided there."""
