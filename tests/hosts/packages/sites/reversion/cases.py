from reversion.models import Version

from tests.hosts.packages.polls import POLLS, make_polls
from tests.hosts.packages.told import Told

PAGES = ["/admin/host/poll/recover/"]
KEEPS_VERSIONS = True  # none of what is deleted
CASES = POLLS


def make() -> None:
    make_polls()


def history() -> list[Told]:
    """Return of what the package has kept a version, and who has made it."""
    return [
        Told(
            version.content_type.model_class()._meta.label,
            version.object_id,
            "",
            version.revision.user and version.revision.user.username,
        )
        for version in Version.objects.all()
    ]
