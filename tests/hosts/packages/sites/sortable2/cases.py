from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.sortable2.models import Step

STEP = "host.step"
PAGES = ["/admin/host/step/"]
CASES = {
    "add": add(STEP, {"name": "New"}, {"name": "New"}),
    "change": change(STEP, 1, {"name": "B"}, {"name": "B"}),
    "bulk": bulk(STEP, [1, 2], {"name": "C"}, {"name": "C"}),
    "delete": delete(STEP, 2),
}


def make() -> None:
    for pk in (1, 2):
        Step.objects.create(pk=pk, name=f"S{pk}", order=pk)
