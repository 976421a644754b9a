"""Real processes for tests: the demo's servers and workers, databases, a broker."""
