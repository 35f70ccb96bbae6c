"""The exact privacy loss of a whole fit: its releases are recorded and forced on a neighbour."""
