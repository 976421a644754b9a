from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ai_assistant", "0005_panel_to_keep"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="steering",
            field=models.JSONField(blank=True, default=list, editable=False),
        ),
    ]
