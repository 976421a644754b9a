import socket
from contextlib import suppress
from random import SystemRandom

# Below those that connections are given, which may take one before its server does.
PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a loopback port that nobody listens on. Raise OSError without one."""
    for port in SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"No port of {PORTS.start} to {PORTS.stop - 1} is free.")
