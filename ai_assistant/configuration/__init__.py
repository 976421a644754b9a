"""What code registers and rows configure, as it holds for a person on a page."""
