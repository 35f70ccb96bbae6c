"""Charts: curves, bars and marks."""
