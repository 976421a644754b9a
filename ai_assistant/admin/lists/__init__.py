"""What the lists of rows that the engine writes have in common, and how one is found."""
