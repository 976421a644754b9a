"""django-debug-toolbar: a toolbar at the right edge of each page."""

REQUIRES = "django-debug-toolbar==8.0.0"
APPS = ["debug_toolbar"]
MIDDLEWARE = ["debug_toolbar.middleware.DebugToolbarMiddleware"]
URLS = [("__debug__/", "debug_toolbar.urls")]
SETTINGS = {
    "DEBUG_TOOLBAR_CONFIG": {
        "SHOW_TOOLBAR_CALLBACK": "builtins.bool",
        "IS_RUNNING_TESTS": False,
        "SHOW_COLLAPSED": True,
    }
}
