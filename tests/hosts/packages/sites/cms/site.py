"""django CMS: its pages in Django's admin, in a tree and in languages."""

REQUIRES = "django-cms==5.1.3"
APPS = ["django.contrib.sites", "cms", "menus", "treebeard", "sekizai"]
MIDDLEWARE = [
    "cms.middleware.user.CurrentUserMiddleware",
    "cms.middleware.page.CurrentPageMiddleware",
    "cms.middleware.toolbar.ToolbarMiddleware",
    "cms.middleware.language.LanguageCookieMiddleware",
]
URLS = [("cms/", "cms.urls")]
PROCESSORS = [
    *(
        "django.template.context_processors.request",
        "sekizai.context_processors.sekizai",
    ),
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
    "cms.context_processors.cms_settings",
]
SETTINGS = {
    "SITE_ID": 1,
    "CMS_CONFIRM_VERSION4": True,
    "CMS_TEMPLATES": [("page.html", "Page")],
    "X_FRAME_OPTIONS": "SAMEORIGIN",
    "TEMPLATES": [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": PROCESSORS},
        }
    ],
}
