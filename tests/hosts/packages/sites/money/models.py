from django.db import models
from djmoney.models.fields import MoneyField


class Ware(models.Model):
    name = models.CharField(max_length=50)
    price = MoneyField(max_digits=10, decimal_places=2, default_currency="USD")
    deposit = MoneyField(
        max_digits=10, decimal_places=2, default_currency="EUR", null=True, blank=True
    )

    def __str__(self) -> str:
        return self.name


class Offer(models.Model):
    ware = models.ForeignKey(Ware, models.CASCADE, related_name="offers")
    cost = MoneyField(max_digits=10, decimal_places=2, default_currency="USD")

    def __str__(self) -> str:
        return str(self.cost)
