"""The site's own API: its operations are searched, and called as the user."""
