"""Mechanisms for a trusted holder of the rows: noisy counts and vectors, private choices, trees."""
