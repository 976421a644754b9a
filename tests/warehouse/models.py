"""Things that are written: every kind of field, of relation and of rule."""

import uuid

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.text import slugify

from tests.warehouse.fields import MoneyField, TagsField


class Supplier(models.Model):
    name = models.CharField(max_length=100)
    code = models.CharField(max_length=10, unique=True)
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class Mark(models.Model):
    name = models.CharField(max_length=50)
    remark = models.TextField(null=True, blank=True)  # noqa: DJ001 - as sites have it

    def __str__(self) -> str:
        return self.name


class Product(models.Model):
    class Status(models.TextChoices):
        NEW = "new", "Brand new"
        SOLD = "sold", "Sold out"

    name = models.CharField(max_length=100)
    sku = models.CharField("stock number", max_length=20, unique=True)
    slug = models.SlugField(blank=True, editable=False)  # made of the name
    supplier = models.ForeignKey(
        Supplier,
        on_delete=models.PROTECT,
        related_name="products",
        limit_choices_to={"is_active": True},
    )
    backup = models.ForeignKey(
        Supplier,
        to_field="code",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    marks = models.ManyToManyField(Mark, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.NEW)
    price = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    weight = models.FloatField(null=True, blank=True)
    made_on = models.DateField(null=True, blank=True)
    sold_at = models.DateTimeField(null=True, blank=True)
    opens = models.TimeField(null=True, blank=True)
    lasts = models.DurationField(null=True, blank=True)
    is_fragile = models.BooleanField(default=False)
    approved = models.BooleanField(null=True, blank=True)
    data = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)
    cover = models.FileField(upload_to="covers", blank=True)
    api_key = models.CharField(max_length=50, blank=True)
    margin = models.IntegerField(default=0)  # excluded from the form
    number = models.UUIDField(default=uuid.uuid4)  # read-only
    seen_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        self.slug = slugify(self.name)
        if self.status == self.Status.SOLD and self.sold_at is None:
            raise ValidationError({"sold_at": "Say when it was sold."})


class Part(models.Model):
    """An inline of a product."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="parts")
    code = models.CharField(max_length=20)
    count = models.PositiveIntegerField(default=1)
    pin = models.CharField(max_length=20, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["product", "code"], name="part_code"),
        )

    def __str__(self) -> str:
        return self.code


class Movement(models.Model):
    """It protects its product."""

    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    amount = models.IntegerField(default=1)

    def __str__(self) -> str:
        return f"{self.amount} moved"


class Remark(models.Model):
    """It stays without its product."""

    product = models.ForeignKey(
        Product, null=True, blank=True, on_delete=models.SET_NULL
    )
    text = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.text


class Secret(models.Model):
    """Kept from the assistant, and goes with its mark."""

    assistant = False

    mark = models.ForeignKey(Mark, on_delete=models.CASCADE)

    def __str__(self) -> str:
        return "canary-secret"


class Offer(models.Model):
    """Its fields have forms of their own, as those of packages have."""

    name = models.CharField(max_length=50)
    tags = TagsField(Mark, blank=True)
    currency = models.CharField(max_length=3, default="EUR", editable=False)
    price = MoneyField(max_digits=8, decimal_places=2)
    price_note = models.CharField(max_length=50, blank=True)

    def __str__(self) -> str:
        return self.name


class Thing(models.Model):
    """What the permission oracle makes its models of; the admins are made there."""

    name = models.CharField(max_length=50)
    kind = models.CharField(max_length=10, choices=[("a", "A"), ("b", "B")])
    amount = models.IntegerField(default=1)
    owner = models.CharField(max_length=50, blank=True)
    is_open = models.BooleanField(default=True)
    note = models.CharField(max_length=50, blank=True)
    place = models.ForeignKey(
        Supplier, null=True, blank=True, on_delete=models.SET_NULL
    )
    marks = models.ManyToManyField(Mark, blank=True)
    api_key = models.CharField(max_length=50, blank=True)

    def __str__(self) -> str:
        return self.name


class Piece(models.Model):
    thing = models.ForeignKey(Thing, on_delete=models.CASCADE, related_name="pieces")
    code = models.CharField(max_length=20)
    size = models.IntegerField(default=1)

    def __str__(self) -> str:
        return self.code
