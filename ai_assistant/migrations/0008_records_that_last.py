from django.core.management.color import no_style
from django.db import migrations, models


def number_on(apps, schema_editor):
    """Let the database give ids behind those that the numbers have become."""
    model = apps.get_model("ai_assistant", "AuditEntry")
    connection = schema_editor.connection
    for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    """
    Entries of the audit log are there before they have their number.

    What was the number becomes the id; so addresses stay, and a process of the
    release before, which knows the number only, can still add an entry.
    """

    dependencies = [
        ("ai_assistant", "0007_columns_may_be_left_out"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="auditentry",
            options={
                "ordering": ("-id",),
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
            },
        ),
        migrations.RenameField(model_name="auditentry", old_name="n", new_name="id"),
        migrations.AlterField(
            model_name="auditentry",
            name="id",
            field=models.BigAutoField(primary_key=True, serialize=False),
        ),
        migrations.RunPython(number_on, migrations.RunPython.noop),
        migrations.AddField(
            model_name="auditentry",
            name="n",
            field=models.PositiveBigIntegerField(
                blank=True, null=True, unique=True, verbose_name="number"
            ),
        ),
        migrations.RunSQL(
            "UPDATE ai_assistant_auditentry SET n = id",
            migrations.RunSQL.noop,
        ),
    ]
