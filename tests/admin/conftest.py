from tests.management.conftest import people, told

__all__ = ["people", "told"]
