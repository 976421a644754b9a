from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("wiki", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="page",
            name="see_also",
            field=models.ManyToManyField(
                blank=True, to="wiki.page", verbose_name="see also"
            ),
        ),
    ]
