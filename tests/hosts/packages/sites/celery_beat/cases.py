from django_celery_beat.models import IntervalSchedule, PeriodicTask

from tests.hosts.packages.cases import add, bulk, change, delete

INTERVAL, TASK = (
    "django_celery_beat.intervalschedule",
    "django_celery_beat.periodictask",
)
CASES = {
    "add": add(
        INTERVAL,
        {"every": 5, "period": "hours"},
        {"every": "5", "period": "hours"},
    ),
    "change": change(TASK, 1, {"enabled": False}, {"enabled": None}),
    # Its pages have no inlines.
    "bulk": bulk(TASK, [1, 2], {"enabled": False}, {"enabled": None}),
    "delete": delete(TASK, 1),
}


def make() -> None:
    every = IntervalSchedule.objects.create(pk=1, every=1, period="days")
    for pk in (1, 2):
        PeriodicTask.objects.create(
            pk=pk, name=f"T{pk}", task="host.task", interval=every
        )
