"""Long tools: claimed by a thread or by a Celery worker, finished once."""

from ai_assistant.engine.calls.background.perform import perform
from ai_assistant.engine.calls.background.send import give_out, send_call, uses_celery

__all__ = ["give_out", "perform", "send_call", "uses_celery"]
