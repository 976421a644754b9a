from django_celery_beat.models import IntervalSchedule, PeriodicTask

from tests.hosts.packages.cases import add, change, delete

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
    "delete": delete(TASK, 1),
}


def make() -> None:
    every = IntervalSchedule.objects.create(pk=1, every=1, period="days")
    PeriodicTask.objects.create(pk=1, name="T", task="host.task", interval=every)
