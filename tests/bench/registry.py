"""What many registered tools and modules cost at the start and at each message."""

import subprocess
import sys
import time
from pathlib import Path

from tests.bench.report import emit, median

TOOLS, MODULES = 1000, 200
SETUP = """
import os, time
os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"
import django
django.setup()
"""
TOOL_COST = (
    SETUP
    + f"""
import ai_assistant
begin = time.perf_counter()
for number in range({TOOLS}):
    @ai_assistant.tool(effect="read", name=f"bench_{{number}}")
    def one(text: str, count: int = 1) -> str:
        "Do one thing."
print((time.perf_counter() - begin) * 1000)
"""
)
MODULE_COST = (
    SETUP
    + f"""
import ai_assistant
from ai_assistant.modules.resolve import module_for
for number in range({MODULES}):
    ai_assistant.register(type(f"Bench{{number}}Module", (ai_assistant.ContextModule,),
                               {{"matches": [f"bench{{number}}:*_change"]}}))
module_for("bench0:a_change")
begin = time.perf_counter()
for number in range(1000):
    module_for(f"bench{{number % {MODULES}}}:a_change")
print(time.perf_counter() - begin)
"""
)


def _figure(code: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return float(done.stdout.splitlines()[-1])


def measure(_base: str, _folder: Path) -> None:
    """Print the time to register 1,000 tools, and to resolve one of 200 modules."""
    begin = time.perf_counter()
    emit(
        "register_1000_tools", median([_figure(TOOL_COST) for _ in range(5)]), "ms", n=5
    )
    emit("resolve_module_of_200", _figure(MODULE_COST), "ms", n=1000)
    emit("registry_bench_took", time.perf_counter() - begin, "s", n=1)
