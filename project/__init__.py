"""The demo project: a site for questionnaires, with the assistant on every page."""

import os

# Tasks bind to this app. Without a broker nothing sends one, and the start is faster.
if os.environ.get("REDIS_URL"):
    from project.celery import app as celery_app

    __all__ = ["celery_app"]
