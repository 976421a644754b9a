"""Hooks of a site that tell the model what they keep, and let it go on."""

import json
from typing import Any

import ai_assistant
from ai_assistant.hooks import NextRound
from ai_assistant.prompts.tree import PromptPart


def hook_in(site: Any) -> None:
    """Register them; they do what `site` says: `keeps`, `told` and `round`."""

    @ai_assistant.hook("user_message_received")
    def keeps(context: Any, message: Any) -> None:
        said = context.state.of("client")
        if site.keeps and said:
            context.state["kept"] = said

    @ai_assistant.hook("process_prompt")
    def tells(context: Any, prompt: Any) -> None:
        state = {"client": context.state.of("client"), **context.state}
        text = json.dumps(state, ensure_ascii=False)
        prompt.tree.append(PromptPart(id="state", text=text))
        if site.told:
            row = PromptPart(id="row", text=site.told, label="data")
            prompt.tree.append(row)

    @ai_assistant.hook("run_finished")
    def goes_on(context: Any, ended: Any) -> NextRound | None:
        if ended.state != "succeeded":  # one that the suite has stopped
            return None
        text, site.round = site.round, ""
        return NextRound(to="self", text=text) if text else None
