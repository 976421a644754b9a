"""django-ckeditor-5: rich text."""

REQUIRES = "django-ckeditor-5==0.2.20"
APPS = ["django_ckeditor_5"]
URLS = [("ckeditor5/", "django_ckeditor_5.urls")]
SETTINGS = {
    "CKEDITOR_5_CONFIGS": {"default": {"toolbar": ["bold"]}},
    "MEDIA_URL": "media/",
}
