from django.core.management.base import BaseCommand

from project.discover.demo.build import build as build_log
from project.questionnaires.demo.build import build as build_questionnaires
from project.wiki.demo.build import build as build_wiki

BUILDS = (build_questionnaires, build_wiki, build_log)


class Command(BaseCommand):
    """Loads the demo data, once."""

    help = "Loads the data of the demo. A second run changes nothing."

    def handle(self, **options: object) -> None:
        made: dict[str, int] = {}
        for build in BUILDS:
            made |= build()
        if made:
            counts = ", ".join(f"{count} {name}" for name, count in made.items())
            self.stdout.write(f"Demo data loaded: {counts}.")
        else:
            self.stdout.write("The demo data is there already: nothing was changed.")
