from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def name_tools(apps, schema_editor):
    """Let each change say itself with which tool, and for whom it was made."""
    calls = apps.get_model("ai_assistant", "ToolCall").objects
    own = calls.filter(pk=OuterRef("call_id"))
    change_sets = apps.get_model("ai_assistant", "ChangeSet").objects
    change_sets.filter(tool="").update(
        tool=Subquery(own.values("name")), label=Subquery(own.values("label"))
    )
    change_sets.filter(user=None).update(user_id=Subquery(own.values("run__user_id")))


class Migration(migrations.Migration):
    """Changes outlive their conversation, and go with their user."""

    dependencies = [
        ("ai_assistant", "0011_changes_by_time"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="changeset",
            name="tool",
            field=models.CharField(
                blank=True, db_default="", max_length=200, verbose_name="tool"
            ),
        ),
        migrations.AddField(
            model_name="changeset",
            name="label",
            field=models.CharField(blank=True, db_default="", max_length=200),
        ),
        migrations.AlterField(
            model_name="changeset",
            name="run",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=models.SET_NULL,
                related_name="change_sets",
                to="ai_assistant.run",
            ),
        ),
        migrations.AlterField(
            model_name="changeset",
            name="call",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=models.SET_NULL,
                related_name="change_sets",
                to="ai_assistant.toolcall",
            ),
        ),
        migrations.AlterField(
            model_name="changeset",
            name="user",
            field=models.ForeignKey(
                null=True,
                on_delete=models.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        # Last: PostgreSQL alters no table whose rows have checks to come.
        migrations.RunPython(name_tools, migrations.RunPython.noop),
    ]
