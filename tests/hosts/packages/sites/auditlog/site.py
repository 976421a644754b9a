"""django-auditlog: each change is logged, with a person."""

REQUIRES = "django-auditlog==3.4.1"
APPS = ["auditlog"]
MIDDLEWARE = ["auditlog.middleware.AuditlogMiddleware"]
SETTINGS = {"AUDITLOG_INCLUDE_ALL_MODELS": False}
