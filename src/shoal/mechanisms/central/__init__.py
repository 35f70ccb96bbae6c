"""Mechanisms of a trusted curator: counts, choices, vectors, trees."""
