"""The database of a process that belongs to one tenant of django-tenants."""
