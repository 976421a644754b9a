"""What the assistant sees: the page of the user, described by the server."""
