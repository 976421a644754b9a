from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=50)
    email = models.EmailField(blank=True)
    api_key = models.CharField(max_length=50, blank=True)  # a secret by its name

    def __str__(self):
        return self.name


class Tag(models.Model):
    name = models.CharField(max_length=50, unique=True)

    def __str__(self):
        return self.name


class Book(models.Model):
    title = models.CharField(max_length=50)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    status = models.CharField(max_length=10, default="new")
    price = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    added_by = models.CharField(max_length=50, blank=True)
    tags = models.ManyToManyField(Tag, blank=True)

    def __str__(self):
        return self.title
