from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ai_assistant", "0010_queue"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="changeset",
            index=models.Index(fields=["created_at"], name="aia_change_time"),
        ),
    ]
