"""django-otp: an admin for those who were verified."""

REQUIRES = "django-otp==1.7.5"
APPS = ["django_otp", "django_otp.plugins.otp_static"]
MIDDLEWARE = ["django_otp.middleware.OTPMiddleware"]


def ADMIN_SITE():  # noqa: N802 - as the settings are named
    from django.contrib import admin
    from django_otp.admin import OTPAdminSite

    admin.site.__class__ = OTPAdminSite
    return admin.site
