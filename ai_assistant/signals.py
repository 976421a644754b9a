"""
Django signals for who only watches; hooks may change a run as well.

Each is sent after the commit, by `send_robust`, in a thread of its own: what a receiver
raises is logged, and nothing waits for it. The sender is `ai_assistant.models.Run`, of
`conversation_deleted` the model of conversations.
"""

from django.dispatch import Signal

# run_id, conversation_id, user_id
run_started = Signal()
# run_id, index: a reply of the model and the results of its calls are stored
step_finished = Signal()
# run_id, call_id, tool, status
tool_executed = Signal()
# run_id, call_id, interrupt_id, kind
interrupt_opened = Signal()
# run_id, conversation_id, user_id, state
run_finished = Signal()
# conversation_id, for_good
conversation_deleted = Signal()
