"""django-money: a price has two columns, and two controls."""

REQUIRES = "django-money==3.6.2"
APPS = ["djmoney"]
