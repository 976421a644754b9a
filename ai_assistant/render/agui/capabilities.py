"""What this server can do, in the protocol's own form."""

from typing import Any

from ag_ui.core import PROTOCOL_VERSION, AgentCapabilities

from ai_assistant import __version__, conf

MS = 1000


def capabilities() -> dict[str, Any]:
    """Return the AgentCapabilities of this site, as JSON."""
    found = AgentCapabilities.model_validate(
        {
            "identity": {
                "name": "ai_assistant",
                "type": "django",
                "version": __version__,
                "description": "An assistant that acts as the signed-in user.",
            },
            "transport": {
                "streaming": True,
                "websocket": False,
                "httpBinary": False,
                "resumable": True,
            },
            "tools": {
                "supported": True,
                "parallelCalls": True,
                "clientProvided": bool(conf.get("CLIENT_TOOLS")),
            },
            "state": {
                "snapshots": True,
                "deltas": False,
                "memory": False,
                "persistentState": False,
            },
            "reasoning": {"supported": True, "streaming": True, "encrypted": False},
            "execution": {
                "codeExecution": False,
                "maxIterations": int(conf.get("MAX_STEPS")),
                "maxExecutionTime": int(conf.get("MAX_RUN_S") * MS),
            },
            "humanInTheLoop": {
                "supported": True,
                "approvals": True,
                "interrupts": True,
                "approveWithEdits": False,
                "feedback": False,
            },
            "custom": {"protocolVersion": PROTOCOL_VERSION},
        }
    )
    return found.model_dump(by_alias=True, mode="json")
