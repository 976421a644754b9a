from django.db import models


class Book(models.Model):
    title = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.title


class Section(models.Model):
    book = models.ForeignKey(Book, models.CASCADE, related_name="sections")
    name = models.CharField(max_length=50)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("position",)

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    section = models.ForeignKey(Section, models.CASCADE, related_name="entries")
    text = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.text


class Note(models.Model):
    entry = models.ForeignKey(Entry, models.CASCADE, related_name="notes")
    text = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.text
