"""The word on the panel's root: what the assistant is doing now."""

from ai_assistant.models.run import Run, RunState

WORDS = {
    RunState.QUEUED: "thinking",
    RunState.WAITING_APPROVAL: "waiting-approval",
    RunState.WAITING_ANSWER: "waiting-answer",
    RunState.WAITING_BROWSER: "tool",
    RunState.WAITING_TASK: "tool",
    RunState.WAITING_RETRY: "thinking",
    RunState.SUCCEEDED: "idle",
    RunState.CANCELLED: "stopped",
    RunState.FAILED: "error",
    RunState.NEEDS_REVIEW: "error",
    RunState.LIMITED: "limited",
}


def panel_state(
    run: Run | None, *, growing: bool = False, working: bool = False
) -> str:
    """
    Return the `data-state` of a panel that shows `run` as its last.

    `growing`: a text is being written; `working`: a call is under way.
    """
    if run is None:
        return "idle"
    if run.state != RunState.RUNNING:
        return WORDS[RunState(run.state)]
    if run.is_stopping:
        return "stopping"
    if growing:
        return "streaming"
    return "tool" if working else "thinking"
