import django.core.validators
import django.db.models.deletion
import project.questionnaires.validators
import re
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("questionnaires", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="QuestionActionGroup",
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
                    "trigger",
                    models.CharField(
                        choices=[
                            ("on_enter", "when it is shown"),
                            ("on_answer", "when it is answered"),
                        ],
                        default="on_answer",
                        max_length=10,
                        verbose_name="trigger",
                    ),
                ),
                (
                    "position",
                    models.PositiveIntegerField(default=0, verbose_name="position"),
                ),
                (
                    "condition",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="An expression tree. Empty is always.",
                        validators=[
                            project.questionnaires.validators.validate_json_object
                        ],
                        verbose_name="condition",
                    ),
                ),
                (
                    "actions",
                    models.JSONField(
                        default=list,
                        validators=[
                            project.questionnaires.validators.validate_json_list
                        ],
                        verbose_name="actions",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="action_groups",
                        to="questionnaires.question",
                        verbose_name="question",
                    ),
                ),
            ],
            options={
                "verbose_name": "group of actions",
                "verbose_name_plural": "groups of actions",
                "ordering": ("question", "trigger", "position", "pk"),
            },
        ),
        migrations.CreateModel(
            name="ConfigOverride",
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
                    "language",
                    models.CharField(
                        max_length=6,
                        validators=[
                            django.core.validators.RegexValidator(
                                re.compile("^[a-z]{2,3}(-[A-Z]{2})?\\Z"),
                                "Enter a language code such as “en” or “pt-BR”.",
                            )
                        ],
                        verbose_name="language",
                    ),
                ),
                (
                    "config",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        validators=[
                            project.questionnaires.validators.validate_json_object
                        ],
                        verbose_name="configuration",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="overrides",
                        to="questionnaires.question",
                        verbose_name="question",
                    ),
                ),
            ],
            options={
                "verbose_name": "configuration in a language",
                "verbose_name_plural": "configurations in a language",
                "ordering": ("question", "language"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("question", "language"), name="one_override_a_language"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="QuestionTranslation",
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
                    "language",
                    models.CharField(
                        max_length=6,
                        validators=[
                            django.core.validators.RegexValidator(
                                re.compile("^[a-z]{2,3}(-[A-Z]{2})?\\Z"),
                                "Enter a language code such as “en” or “pt-BR”.",
                            )
                        ],
                        verbose_name="language",
                    ),
                ),
                ("text", models.CharField(max_length=500, verbose_name="text")),
                (
                    "description",
                    models.TextField(blank=True, verbose_name="description"),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="translations",
                        to="questionnaires.question",
                        verbose_name="question",
                    ),
                ),
            ],
            options={
                "verbose_name": "translation",
                "verbose_name_plural": "translations",
                "ordering": ("question", "language"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("question", "language"),
                        name="one_translation_a_language",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScheduleSection",
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
                    "position",
                    models.PositiveIntegerField(default=0, verbose_name="position"),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="schedule_sections",
                        to="questionnaires.schedule",
                        verbose_name="schedule",
                    ),
                ),
                (
                    "section",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="schedule_sections",
                        to="questionnaires.section",
                        verbose_name="section",
                    ),
                ),
            ],
            options={
                "verbose_name": "section of a schedule",
                "verbose_name_plural": "sections of a schedule",
                "ordering": ("schedule", "position", "pk"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("schedule", "section"), name="section_once_a_schedule"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScoringVariable",
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
                    "uuid",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        unique=True,
                        verbose_name="UUID",
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        max_length=60,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z][a-z0-9_]*\\Z",
                                "Enter lower-case letters, digits and underscores, beginning with a letter.",
                            )
                        ],
                        verbose_name="name",
                    ),
                ),
                ("label", models.CharField(max_length=200, verbose_name="label")),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("number", "number"),
                            ("text", "text"),
                            ("boolean", "yes or no"),
                            ("date", "date"),
                        ],
                        default="number",
                        max_length=10,
                        verbose_name="type",
                    ),
                ),
                (
                    "default",
                    models.JSONField(
                        blank=True, null=True, verbose_name="default value"
                    ),
                ),
                (
                    "questionnaire",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="variables",
                        to="questionnaires.questionnaire",
                        verbose_name="questionnaire",
                    ),
                ),
            ],
            options={
                "verbose_name": "variable",
                "verbose_name_plural": "variables",
                "ordering": ("questionnaire", "name"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("questionnaire", "name"),
                        name="one_variable_a_name",
                        violation_error_message="Another variable of the questionnaire has this name.",
                    )
                ],
            },
        ),
    ]
