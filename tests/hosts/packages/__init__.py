"""Sites with packages that people use: tools make the same rows as the real pages."""
