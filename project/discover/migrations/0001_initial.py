import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="LogLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("time", models.DateTimeField(db_index=True, verbose_name="time")),
                (
                    "level",
                    models.CharField(
                        choices=[
                            ("debug", "debug"),
                            ("info", "info"),
                            ("warning", "warning"),
                            ("error", "error"),
                        ],
                        max_length=10,
                        verbose_name="level",
                    ),
                ),
                ("service", models.CharField(max_length=40, verbose_name="service")),
                ("message", models.CharField(max_length=500, verbose_name="message")),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        blank=True, null=True, verbose_name="status"
                    ),
                ),
                (
                    "duration_ms",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="duration (ms)"
                    ),
                ),
            ],
            options={
                "verbose_name": "log line",
                "verbose_name_plural": "log lines",
                "ordering": ("-time", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="ExplorerQuery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "query",
                    models.CharField(blank=True, max_length=500, verbose_name="query"),
                ),
                (
                    "description",
                    models.CharField(
                        blank=True, max_length=200, verbose_name="description"
                    ),
                ),
                ("is_run", models.BooleanField(default=True, verbose_name="run")),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="explorer_query",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "query of a user",
                "verbose_name_plural": "queries of users",
            },
        ),
    ]
