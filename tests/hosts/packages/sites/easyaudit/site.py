"""django-easy-audit: each change is logged, with a person."""

REQUIRES = "django-easy-audit==1.3.9"
APPS = ["easyaudit"]
MIDDLEWARE = ["easyaudit.middleware.easyaudit.EasyAuditMiddleware"]
SETTINGS = {"DJANGO_EASY_AUDIT_WATCH_REQUEST_EVENTS": False}
