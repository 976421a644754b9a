"""The context of a run: the page of the user, described by the server."""
