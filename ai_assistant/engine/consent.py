"""Whether a call has to be approved by a person first, and why."""

from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.engine.provenance import asks_because_of_data
from ai_assistant.models.call import ToolCall
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import Run
from ai_assistant.safety.policy import judge
from ai_assistant.types import WRITING, ToolDefinition, Verdict


def consent(run: Run, call: ToolCall, tool: ToolDefinition, user: Any) -> Verdict:  # noqa: ANN401 - the site's user model
    """
    Return what a call needs: the site's policy, and where its arguments come from.

    A write whose target or values came from data through the model asks, whatever
    the policy says.
    """
    verdict = judge(tool, user=user, module=run.module)
    if verdict.decision != "allow" or tool.effect not in WRITING:
        return verdict
    if tool.removes is not None and tool.removes(call.arguments):
        reason = _("Asks because it may remove data for good.")
        return Verdict(decision="ask", reason=reason, source="default")
    if tool.takes_data:
        return verdict  # its developer has said so
    because = asks_because_of_data(run, call, tool)
    if not because:
        return verdict
    return Verdict(decision="ask", reason=because, source="data")


def is_granted(run: Run, tool: ToolDefinition, model: str = "") -> bool:
    """Tell whether the person has allowed the tool on `model` for this run."""
    if tool.effect == "destructive" or tool.external:
        return False
    return Grant.objects.filter(run=run, tool=tool.name, model=model).exists()


def granted() -> str:
    """Return the sentence for a call that such an allowance covers."""
    return _("You allowed it for this answer.")
