"""A small wiki, which the assistant can search from every page."""
