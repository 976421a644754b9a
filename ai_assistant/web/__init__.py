"""The door: HTTP and sockets in, one call to the engine each."""
