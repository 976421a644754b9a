"""Celery tasks of the assistant. Messages carry only ids."""

from uuid import UUID

from celery import shared_task

from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.sweep import sweep_once


@shared_task(
    name="ai_assistant.perform_call",
    acks_late=True,
    reject_on_worker_lost=True,
    ignore_result=True,
)
def perform_call(call_id: str) -> None:
    """Work on one background call, unless another does."""
    perform(UUID(call_id))


@shared_task(name="ai_assistant.sweep", ignore_result=True)
def sweep() -> None:
    """Bring stalled runs and calls back into the queue; for Celery beat."""
    sweep_once()
