"""django-simple-history: each row has its history, with a person."""

REQUIRES = "django-simple-history==3.13.0"
APPS = ["simple_history"]
MIDDLEWARE = ["simple_history.middleware.HistoryRequestMiddleware"]
