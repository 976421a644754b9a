from django.db import models


class Step(models.Model):
    name = models.CharField(max_length=50)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("order",)

    def __str__(self) -> str:
        return self.name


class Recipe(models.Model):
    name = models.CharField(max_length=50)

    def __str__(self) -> str:
        return self.name


class Part(models.Model):
    recipe = models.ForeignKey(Recipe, models.CASCADE, related_name="parts")
    name = models.CharField(max_length=50)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("order",)

    def __str__(self) -> str:
        return self.name
