"""What the assistant is on a page: its tools, its prompt, its rules."""
