from django.db import models
from mptt.models import MPTTModel, TreeForeignKey


class Genre(MPTTModel):
    name = models.CharField(max_length=50)
    parent = TreeForeignKey("self", models.CASCADE, null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Song(models.Model):
    genre = TreeForeignKey(Genre, models.CASCADE, related_name="songs")
    title = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.title
