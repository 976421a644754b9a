"""Books and what belongs to them; some of it is nobody's business."""

import uuid
from datetime import date

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=100)
    email = models.EmailField(blank=True)
    api_key = models.CharField(max_length=100, blank=True)  # a secret by its name
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Publisher(models.Model):
    """Those named with an underscore first are hidden by the admin."""

    name = models.CharField(max_length=100)
    city = models.CharField(max_length=100, blank=True)
    auth_token = models.CharField(max_length=100, blank=True)

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    name = models.CharField(max_length=50, unique=True)

    def __str__(self) -> str:
        return self.name


class Shelf(models.Model):
    """Not in the admin."""

    room = models.CharField(max_length=50)

    def __str__(self) -> str:
        return f"Shelf in {self.room}"


class Book(models.Model):
    class Status(models.TextChoices):
        NEW = "new", "New"
        LENT = "lent", "Lent out"
        LOST = "lost", "Lost"

    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    publisher = models.ForeignKey(
        Publisher, null=True, blank=True, on_delete=models.PROTECT
    )
    shelf = models.ForeignKey(Shelf, null=True, blank=True, on_delete=models.SET_NULL)
    tags = models.ManyToManyField(Tag, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.NEW)
    price = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    pages = models.IntegerField(default=0)
    rating = models.FloatField(null=True, blank=True)
    published = models.DateField(null=True, blank=True)
    added_at = models.DateTimeField(null=True, blank=True)
    opens = models.TimeField(null=True, blank=True)
    loan = models.DurationField(null=True, blank=True)
    is_sold = models.BooleanField(default=False)
    number = models.UUIDField(default=uuid.uuid4)
    data = models.JSONField(default=dict, blank=True)
    cover = models.FileField(upload_to="covers", blank=True)
    margin = models.IntegerField(default=0)  # excluded from the form
    session_token = models.CharField(max_length=100, blank=True)

    class Meta:
        ordering = ("title",)

    def __str__(self) -> str:
        return self.title


class Copy(models.Model):
    """An inline of a book."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="copies")
    code = models.CharField(max_length=20)
    shelf = models.ForeignKey(Shelf, null=True, blank=True, on_delete=models.SET_NULL)
    pin = models.CharField(max_length=20, blank=True)

    class Meta:
        verbose_name_plural = "copies"

    def __str__(self) -> str:
        return self.code


class Review(models.Model):
    """Only its own writer sees the private remarks, and only public ones at all."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE)
    writer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    stars = models.PositiveSmallIntegerField(default=3)
    remarks = models.TextField(blank=True)
    is_private = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"Review {self.pk}"


class Vault(models.Model):
    """Opted out by its ModelAdmin."""

    contents = models.CharField(max_length=100)
    book = models.ForeignKey(Book, null=True, blank=True, on_delete=models.SET_NULL)

    def __str__(self) -> str:
        return self.contents


class Diary(models.Model):
    """Opted out by the model."""

    assistant = False

    entry = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.entry


class Card(models.Model):
    """Its ids are a secret."""

    pin = models.CharField(max_length=20, primary_key=True)

    def __str__(self) -> str:
        return "Card"


class Member(Group.user_set.through):
    """A child of the table of memberships; the page that adds one makes one."""

    since = models.DateField(default=date.today)

    def __str__(self) -> str:
        return "member"


class Grant(models.Model):
    """A permission on one object, as packages for them have it."""

    permission = models.ForeignKey(Permission, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    object_pk = models.CharField(max_length=50)

    def __str__(self) -> str:
        return f"{self.user} on {self.object_pk}"
