import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from ai_assistant.models.change import ChangeSet

BEFORE = [("ai_assistant", "0011_changes_by_time")]


@pytest.mark.broad
@pytest.mark.django_db(transaction=True)
def test_changes_of_before_name_their_tool_and_user():
    user = get_user_model().objects.create_user("ada")
    MigrationExecutor(connection).migrate(BEFORE)
    try:
        old = MigrationExecutor(connection).loader.project_state(BEFORE).apps
        make = {
            name: old.get_model("ai_assistant", name).objects.create
            for name in ("Conversation", "Run", "Message", "Step", "ToolCall")
        }
        matter = make["Conversation"](owner_id=user.pk)
        run = make["Run"](conversation=matter, user_id=user.pk, idempotency_key="k")
        said = make["Message"](conversation=matter, run=run, position=0)
        step = make["Step"](run=run, index=0, message=said)
        call = make["ToolCall"](run=run, step=step, position=0, name="pay", label="Pay")
        old.get_model("ai_assistant", "ChangeSet").objects.create(run=run, call=call)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())

    change = ChangeSet.objects.get()
    assert (change.tool, change.label, change.user) == ("pay", "Pay", user)
