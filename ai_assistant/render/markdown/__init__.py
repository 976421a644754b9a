"""
The model's text as safe HTML, whole or while it grows.

A message is a list of blocks; the index of a block is its id. A closed block is
final, only the open tail is rendered again. Plain Python, no Django.
"""

from ai_assistant.render.markdown.blocks import Block, split_blocks
from ai_assistant.render.markdown.stream import (
    BlockChange,
    BlockStream,
    part_end,
    parts_of,
    render,
)

__all__ = [
    "Block",
    "BlockChange",
    "BlockStream",
    "part_end",
    "parts_of",
    "render",
    "split_blocks",
]
