from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ai_assistant", "0008_records_that_last"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="script_prefix",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=300
            ),
        ),
    ]
