"""Works of art: rows in all the relations that Django has, with all kinds of fields."""

import uuid

from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models


class Points(models.Field):
    """Two numbers in one column: a field of the site's own."""

    def db_type(self, connection):
        return "varchar(40)"

    def from_db_value(self, value, expression, connection):
        return self.to_python(value)

    def to_python(self, value):
        if isinstance(value, str):
            return tuple(int(part) for part in value.split(";"))
        return value

    def get_prep_value(self, value):
        return None if value is None else ";".join(map(str, value))

    def value_to_string(self, obj):
        return self.get_prep_value(self.value_from_object(obj)) or ""


class CountedField(models.IntegerField):
    """Counts how often its row was saved."""

    def pre_save(self, model_instance, add):
        count = (getattr(model_instance, self.attname) or 0) + 1
        setattr(model_instance, self.attname, count)
        return count


class Note(models.Model):
    """On anything."""

    content_type = models.ForeignKey(ContentType, on_delete=models.CASCADE)
    object_id = models.CharField(max_length=50)
    target = GenericForeignKey()
    text = models.CharField(max_length=100)

    def __str__(self):
        return self.text


class Museum(models.Model):
    name = models.CharField(max_length=100)

    def __str__(self):
        return self.name


class Style(models.Model):
    name = models.CharField(max_length=100, unique=True)

    def __str__(self):
        return self.name


class Artist(models.Model):
    name = models.CharField(max_length=100)
    teacher = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="pupils"
    )
    friends = models.ManyToManyField("self", blank=True)

    def __str__(self):
        return self.name


class Work(models.Model):
    title = models.CharField(max_length=100)
    artist = models.ForeignKey(Artist, on_delete=models.CASCADE, related_name="works")
    museum = models.ForeignKey(
        Museum, null=True, blank=True, on_delete=models.SET_NULL, related_name="works"
    )
    styles = models.ManyToManyField(Style, blank=True, related_name="works")
    price = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    year = models.IntegerField(default=1900)
    scan = models.FileField(upload_to="scans", blank=True)
    changed_at = models.DateTimeField(auto_now=True)
    notes = GenericRelation(Note)

    def __str__(self):
        return f"{self.title} by {self.artist}"


class Painting(Work):
    """Two tables."""

    technique = models.CharField(max_length=50, default="oil")


class Sketch(Work):
    """Behind it, the table of works."""

    class Meta:
        proxy = True


class Show(models.Model):
    name = models.CharField(max_length=100)
    works = models.ManyToManyField(Work, through="Loan", related_name="shows")

    def __str__(self):
        return self.name


class Loan(models.Model):
    show = models.ForeignKey(Show, on_delete=models.CASCADE)
    work = models.ForeignKey(Work, on_delete=models.CASCADE)
    insured_usd = models.IntegerField(default=0)

    def __str__(self):
        return f"Loan for {self.insured_usd} USD"


class Visitor(models.Model):
    """A row with a key of its own and a secret."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=100)
    password = models.CharField(max_length=100, blank=True)
    visits = CountedField(default=0)

    def __str__(self):
        raise ValueError("nobody knows them")


class Badge(models.Model):
    """The key is a secret."""

    token = models.CharField(max_length=50, primary_key=True)
    visitor = models.ForeignKey(Visitor, on_delete=models.CASCADE)

    def __str__(self):
        return self.token


class Specimen(models.Model):
    """One field of each kind."""

    a_bool = models.BooleanField(null=True)
    a_float = models.FloatField(null=True)
    a_decimal = models.DecimalField(max_digits=20, decimal_places=4, null=True)
    a_big_number = models.BigIntegerField(null=True)
    a_text = models.TextField(blank=True)
    a_date = models.DateField(null=True)
    a_time = models.TimeField(null=True)
    a_moment = models.DateTimeField(null=True)
    a_duration = models.DurationField(null=True)
    a_uuid = models.UUIDField(null=True)
    a_binary = models.BinaryField(null=True)
    a_json = models.JSONField(null=True)
    a_required_json = models.JSONField(default=dict)
    an_address = models.GenericIPAddressField(null=True)
    points = Points(null=True)
    visitor = models.ForeignKey(Visitor, null=True, on_delete=models.SET_NULL)

    def __str__(self):
        return f"Specimen {self.pk}"


class Register(models.Model):
    """Written by a trigger in one of the tests."""

    text = models.CharField(max_length=100)

    def __str__(self):
        return self.text


class InUse(models.Manager):
    """Hides what was put away."""

    def get_queryset(self):
        return super().get_queryset().filter(is_put_away=False)


class Frame(models.Model):
    """Around one work, with a key in words; putting one away is its deletion."""

    code = models.CharField(max_length=20, primary_key=True)
    work = models.OneToOneField(Work, on_delete=models.CASCADE)
    room = models.ForeignKey(
        Museum, null=True, on_delete=models.RESTRICT, related_name="frames"
    )
    style = models.ForeignKey(
        Style, null=True, default=None, on_delete=models.SET_DEFAULT, related_name="+"
    )
    lender = models.ForeignKey(
        Museum,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    is_put_away = models.BooleanField(default=False)

    objects = InUse()

    def __str__(self):
        return self.code

    def delete(self, *_args, **_kwargs):
        self.is_put_away = True
        self.save()


class Label(models.Model):
    """In a table that Django does not manage, whose rows the database deletes."""

    museum = models.ForeignKey(Museum, on_delete=models.DO_NOTHING)
    text = models.CharField(max_length=100)

    class Meta:
        managed = False
        db_table = "labels_of_old"

    def __str__(self):
        return self.text
