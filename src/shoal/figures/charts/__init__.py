"""Curves, bars and marks."""
