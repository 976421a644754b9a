"""A user with a UUID as its key."""

REQUIRES = ""
APPS = []
SETTINGS = {"AUTH_USER_MODEL": "host.Person"}
