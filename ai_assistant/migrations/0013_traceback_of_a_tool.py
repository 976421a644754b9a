from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ai_assistant", "0012_changes_that_stay"),
    ]

    operations = [
        migrations.AddField(
            model_name="toolcall",
            name="traceback",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
