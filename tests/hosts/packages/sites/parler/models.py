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


class Album(models.Model):
    name = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.name


class Photo(TranslatableModel):
    album = models.ForeignKey(Album, models.CASCADE, related_name="photos")
    width = models.IntegerField(default=1)
    translations = TranslatedFields(caption=models.CharField(max_length=50))

    def __str__(self) -> str:
        return self.safe_translation_getter("caption", any_language=True) or "?"
