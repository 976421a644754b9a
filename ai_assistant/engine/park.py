"""Let a run wait: no process, thread or connection is held meanwhile."""

from ai_assistant.engine.finish import finish, stopped
from ai_assistant.engine.locking import let_go
from ai_assistant.engine.records import has_runnable, wait_state
from ai_assistant.engine.writer import RunWriter
from ai_assistant.events import Custom, Event
from ai_assistant.models.run import Run


async def park(writer: RunWriter) -> bool:
    """Park the run in the state of what it waits for; False if it need not wait."""
    parked: list[bool] = []

    def work() -> list[Event]:
        facts = _park(writer)
        parked.append(bool(facts))
        return facts

    await writer.commit(work)
    return parked[-1]


def _park(writer: RunWriter) -> list[Event]:
    run_id = writer.hold.run_id
    state = wait_state(run_id)
    # An answer may have come while the other calls were carried out.
    if state is None or has_runnable(run_id):
        return []
    run = Run.objects.select_related("stop_request").get(pk=run_id)
    if run.is_stopping:
        return finish(run_id, stopped(run), running_s=writer.running_s())
    let_go(run)
    run.state, run.owner = state, ""
    run.running_s += writer.running_s()
    run.save(update_fields=["state", "owner", "running_s"])
    return [Custom(name="aia.waiting", value={"state": state})]
