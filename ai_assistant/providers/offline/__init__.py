"""A model without a model: rules that help, search, count and change, in English."""
