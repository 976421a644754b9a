from django.core.cache.backends.dummy import DummyCache


class BrokenCache(DummyCache):
    """A cache whose server is away."""

    def add(self, *_args, **_options):
        raise ConnectionError("refused")
