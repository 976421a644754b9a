from django.db import models
from parler.models import TranslatableModel, TranslatedFields


class News(TranslatableModel):
    number = models.IntegerField(default=1)
    translations = TranslatedFields(
        title=models.CharField(max_length=50),
        body=models.TextField(blank=True),
    )

    def __str__(self) -> str:
        return self.safe_translation_getter("title", any_language=True) or "?"
