"""Sentences about what is not as it was shown: of which kind each of them is."""


class More(str):
    """Says what would happen beside what was shown."""

    __slots__ = ()


class Less(str):
    """Says what was shown and would not happen."""

    __slots__ = ()
