from django.db import migrations

from project.questionnaires.fields import RevisionField


class Migration(migrations.Migration):
    dependencies = [("questionnaires", "0002_designing_and_scheduling")]

    operations = [
        migrations.AlterField(
            model_name="questionnaire",
            name="revision",
            field=RevisionField(default=1, editable=False, verbose_name="revision"),
        ),
    ]
