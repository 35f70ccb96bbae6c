"""Maps of released cells and clusters."""
