"""Laplace noise in any number of dimensions, and what may follow it."""
