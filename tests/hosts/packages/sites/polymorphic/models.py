from django.db import models
from polymorphic.models import PolymorphicModel


class Project(PolymorphicModel):
    topic = models.CharField(max_length=30)

    def __str__(self) -> str:
        return self.topic


class Art(Project):
    artist = models.CharField(max_length=30)


class Science(Project):
    lab = models.CharField(max_length=30)


class Step(models.Model):
    project = models.ForeignKey(Project, models.CASCADE, related_name="steps")
    title = models.CharField(max_length=30)

    def __str__(self) -> str:
        return self.title


class Document(PolymorphicModel):
    """Has one child."""

    title = models.CharField(max_length=30)

    def __str__(self) -> str:
        return self.title


class Letter(Document):
    receiver = models.CharField(max_length=30)


class Order(models.Model):
    """Its payments are of several classes, in one inline."""

    name = models.CharField(max_length=30)

    def __str__(self) -> str:
        return self.name


class Payment(PolymorphicModel):
    order = models.ForeignKey(Order, models.CASCADE, related_name="payments")
    amount = models.IntegerField()

    def __str__(self) -> str:
        return str(self.amount)


class Cash(Payment):
    till = models.CharField(max_length=30, blank=True)


class Transfer(Payment):
    bank = models.CharField(max_length=30)
