"""
An AG-UI client for tests, and a checker of every stream that it reads.

Written from the protocol's text, not from the server's code nor from a library: what
the stock client repairs, drops or accepts in silence is a fault here.
"""

from tests.agui.client import Front
from tests.agui.framing import Frame, parse
from tests.agui.order import Known, Order
from tests.agui.shapes import shape_faults

__all__ = ["Frame", "Front", "Known", "Order", "parse", "shape_faults"]
