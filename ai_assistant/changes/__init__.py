"""What a tool changes: shown before, captured while, kept after."""
