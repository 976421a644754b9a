"""django-two-factor-auth: an admin behind a second factor, with its own login."""

REQUIRES = "django-two-factor-auth==1.18.1"
APPS = [
    *("django_otp", "django_otp.plugins.otp_static", "django_otp.plugins.otp_totp"),
    "two_factor",
]
MIDDLEWARE = ["django_otp.middleware.OTPMiddleware"]
URLS = [("", "tests.hosts.packages.sites.two_factor.urls")]
SETTINGS = {"LOGIN_URL": "two_factor:login"}


def ADMIN_SITE():  # noqa: N802 - as the settings are named
    from django.contrib import admin
    from two_factor.admin import AdminSiteOTPRequired

    admin.site.__class__ = AdminSiteOTPRequired
    return admin.site
