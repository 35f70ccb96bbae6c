"""Laplace noise in any number of dimensions, and post-processing of its reports."""
