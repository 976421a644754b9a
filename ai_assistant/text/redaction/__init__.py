"""Keep secrets out of prompts, rows, logs and pages."""
