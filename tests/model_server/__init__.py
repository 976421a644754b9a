"""
A real HTTP model server for tests and measurements.

OpenAI-compatible, streaming, scripted: the last message of the user names the
script, as in `[[script:NAME#TAG key=value]]`. See `scripts.py` for the names and
`player.py` for the operations of which a script is made.
"""

from tests.model_server.process import ModelServerProcess
from tests.model_server.thread import ModelServer

__all__ = ["ModelServer", "ModelServerProcess"]
