"""What the page carries out: built-in browser tools, and those of pages."""
